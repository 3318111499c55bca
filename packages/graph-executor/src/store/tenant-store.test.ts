import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tenantNamespace, tenantStore } from "./tenant-store.js";

const ann = { billingAccountId: "acme", subject: "ann" };
const anna = { billingAccountId: "acme", subject: "anna" };
const shared = { billingAccountId: "acme" };

/** Everything a graph could try in order to see something. */
async function allItems(store: BaseStore): Promise<readonly string[]> {
  const found = await store.search([], { limit: 100 });
  return found.map((item) => [...item.namespace, item.key].join("/")).sort();
}

describe("A tenant's store", () => {
  it("keeps, finds, lists and forgets as if it were alone", async () => {
    const store = tenantStore(new InMemoryStore(), ann);
    await store.put(["memories", "food"], "tea", { likes: true });
    expect(await store.get(["memories", "food"], "tea")).toMatchObject({
      key: "tea",
      namespace: ["memories", "food"],
      value: { likes: true },
    });
    expect(await allItems(store)).toEqual(["memories/food/tea"]);
    expect(await store.listNamespaces({ prefix: ["memories"] })).toEqual([["memories", "food"]]);
    expect(await store.listNamespaces({ suffix: ["food"], maxDepth: 1 })).toEqual([["memories"]]);
    await store.delete(["memories", "food"], "tea");
    expect(await store.get(["memories", "food"], "tea")).toBeNull();
  });

  it("is no other tenant's, even one whose name begins the same or is all of the account", async () => {
    const inner = new InMemoryStore();
    for (const tenant of [ann, anna, shared, { billingAccountId: "acme2" }]) {
      await tenantStore(inner, tenant).put(["notes"], JSON.stringify(tenant), {});
    }
    for (const tenant of [ann, anna, shared]) {
      expect(await allItems(tenantStore(inner, tenant))).toEqual([`notes/${JSON.stringify(tenant)}`]);
      expect(await tenantStore(inner, tenant).listNamespaces()).toEqual([["notes"]]);
    }
  });

  it("does not let a namespace out, whatever its labels are", async () => {
    const label = fc.oneof(
      fc.constantFrom("..", "*", "acme", "shared~", "@anna~", "", "a:b", "langgraph"),
      fc.string({ maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(label, { maxLength: 4 }),
        fc.string({ maxLength: 4 }),
        async (labels, key) => {
          const inner = new InMemoryStore();
          await tenantStore(inner, anna).put(["secret"], "key", { mine: true });
          const store = tenantStore(inner, ann);
          expect(await store.batch([{ namespace: labels, key }])).toEqual([null]);
          await store.batch([{ namespace: labels, key, value: { forged: true } }]);
          await store.batch([{ namespacePrefix: labels, limit: 100 }]);
          expect(await tenantStore(inner, anna).get(["secret"], "key")).toMatchObject({
            value: { mine: true },
          });
          expect(await tenantStore(inner, anna).search([], { limit: 10 })).toHaveLength(1);
          const [found = []] = await store.batch([{ namespacePrefix: [], limit: 100 }]);
          expect(found.every((item) => !("mine" in item.value))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("stands where no two callers meet", () => {
    const subject = fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), { nil: undefined });
    const identity = (text: string | undefined) => text === undefined || !/\p{Cs}/u.test(text);
    fc.assert(
      fc.property(subject.filter(identity), subject.filter(identity), (a, b) => {
        const [first, second] = [a, b].map((text) =>
          tenantNamespace({ billingAccountId: "acme", ...(text !== undefined && { subject: text }) }).join(
            ".",
          ),
        );
        expect(first === second).toBe(a === b);
      }),
    );
  });
});
