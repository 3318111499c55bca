import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { createMemoryGraphStore, createPostgresGraphStore, type GraphStore } from "./graph-store.js";

import { createStoreItems } from "./store-items.js";
import { tenantStore } from "./tenant-store.js";

let postgres: PostgresFixture;
beforeAll(async () => {
  postgres = await startPostgresFixture();
});
afterAll(() => postgres.stop());

const everything = { prefix: [], limit: 100, offset: 0 };
const ann = { billingAccountId: "a_b", subject: "ann" };
const shared = { billingAccountId: "a_b" };
/** To a search by pattern these look like the two above. */
const lookalikes = [
  { billingAccountId: "axb", subject: "ann" },
  { billingAccountId: "axb" },
  { billingAccountId: "a_b2" },
];

describe.each([
  ["in memory", () => createMemoryGraphStore()],
  ["in PostgreSQL", () => createPostgresGraphStore({ connectionString: postgres.url })],
] as const)("What graphs remember, %s,", (_, open) => {
  let store: GraphStore;
  beforeAll(async () => {
    store = open();
    await store.setup();
    for (const tenant of [ann, shared, ...lookalikes]) {
      await tenantStore(store.store, tenant).put(["notes"], "tea", { of: JSON.stringify(tenant) });
      await tenantStore(store.store, tenant).put(["notes", "deep_sea"], "sea", {});
    }
  });
  afterAll(() => store.close());

  it("is listed to its owner alone, by namespace and page by page", async () => {
    const items = createStoreItems(store);
    const all = await items.list(ann, everything);
    expect(all.map(({ namespace, key }) => [...namespace, key].join("/")).sort()).toEqual([
      "notes/deep_sea/sea",
      "notes/tea",
    ]);
    expect(await items.list(ann, { ...everything, prefix: ["notes", "deep_sea"] })).toMatchObject([
      { key: "sea" },
    ]);
    const pages = [
      await items.list(shared, { ...everything, limit: 1 }),
      await items.list(shared, { ...everything, limit: 1, offset: 1 }),
    ].flat();
    expect(new Set(pages.map(({ key }) => key))).toEqual(new Set(["tea", "sea"]));
  });

  it("is deleted one by one by its owner, and is then not there", async () => {
    const items = createStoreItems(store);
    expect(await items.delete(ann, ["notes"], "tea")).toBe(true);
    expect(await items.delete(ann, ["notes"], "tea")).toBe(false);
    expect(await items.list(ann, everything)).toHaveLength(1);
    expect(await items.list(shared, everything)).toHaveLength(2);
  });

  it("goes with its account, and nobody else's does", async () => {
    const items = createStoreItems(store);
    expect(await items.deleteAccount("a_b", "")).toBe(2);
    expect(await items.list(ann, everything)).toHaveLength(1);
    expect(await items.deleteAccount("a_b")).toBe(1);
    for (const tenant of lookalikes) expect(await items.list(tenant, everything)).toHaveLength(2);
  });
});
