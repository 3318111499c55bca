import fc from "fast-check";
import { expect, test } from "vitest";
import { runInOrder } from "./run-in-order.mjs";

interface Item {
  readonly name: string;
  readonly needs: readonly string[];
}

const nameOf = ({ name }: Item) => name;
const dependsOn = ({ needs }: Item) => needs;

/** Items that may depend on earlier ones only, in any order of mention: always runnable. */
const runnable = fc
  .array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 1, maxLength: 10 })
  .map((needs) =>
    needs.map((indexes, own) => ({
      name: `p${own}`,
      needs: indexes.filter((index) => index < own).map((index) => `p${index}`),
    })),
  )
  .chain((items) => fc.shuffledSubarray(items, { minLength: items.length }));

test("everything runs once, after what it depends on, never more than the limit at a time", async () => {
  await fc.assert(
    fc.asyncProperty(runnable, fc.integer({ min: 1, max: 3 }), async (items, limit) => {
      const finished: string[] = [];
      let running = 0;
      const results = await runInOrder({
        items,
        limit,
        nameOf,
        dependsOn,
        run: async ({ name, needs }) => {
          running += 1;
          expect(running).toBeLessThanOrEqual(limit);
          expect(finished).toEqual(expect.arrayContaining([...needs]));
          await Promise.resolve();
          running -= 1;
          finished.push(name);
          return name;
        },
      });
      expect(results).toEqual(items.map(nameOf));
      expect(finished.toSorted()).toEqual(items.map(nameOf).toSorted());
    }),
  );
});

test("a dependency that is not in the list is no reason to wait", async () => {
  const items = [{ name: "a", needs: ["zod"] }];
  await expect(runInOrder({ items, limit: 1, nameOf, dependsOn, run: async () => "ran" })).resolves.toEqual([
    "ran",
  ]);
});

test("items that depend on each other are named instead of waited for", async () => {
  const items = [
    { name: "a", needs: ["b"] },
    { name: "b", needs: ["a"] },
  ];
  await expect(runInOrder({ items, limit: 2, nameOf, dependsOn, run: async () => 0 })).rejects.toThrow(
    "in a circle: a, b",
  );
});

test("after a failure nothing new starts and the failure is what comes out", async () => {
  const started: string[] = [];
  const items = ["a", "b", "c"].map((name) => ({ name, needs: [] }));
  const run = async ({ name }: Item) => {
    started.push(name);
    if (name === "a") throw new Error("a is broken");
  };
  await expect(runInOrder({ items, limit: 1, nameOf, dependsOn, run })).rejects.toThrow("a is broken");
  expect(started).toEqual(["a"]);
});
