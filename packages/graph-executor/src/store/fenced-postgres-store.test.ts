import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { type Fence, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { heldQuery, neverAsked, putRun, setUpRuns } from "../persistence/held-runs-fixture.js";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { surviveBrokenConnections } from "../store-pool.js";
import { FencedPostgresStore, fencedStore } from "./run-store.js";

const fence: Fence = { threadId: "t", runId: "run-1", token: 3n };

describe("A store that a run writes while its fence is held", () => {
  let postgres: PostgresFixture;
  let store: FencedPostgresStore;
  let pool: pg.Pool;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
    store = new FencedPostgresStore({ connectionString: postgres.url, max: 4 }, "langgraph");
    await store.setup();
    pool = surviveBrokenConnections(new pg.Pool({ connectionString: postgres.url, max: 2 }));
    await setUpRuns(pool);
  });
  afterAll(async () => {
    await Promise.all([store.stop(), pool.end()]);
    await postgres.stop();
  });
  beforeEach(async () => {
    await pool.query("truncate langgraph.store");
    await putRun(pool, fence);
  });

  const held = () => fencedStore(store, { ...neverAsked, heldQuery }, fence);
  const takeOver = (client: Pick<pg.Pool, "query">) => putRun(client, { ...fence, token: 4n });

  async function rowsAfter(written: BaseStore): Promise<unknown[]> {
    await pool.query("truncate langgraph.store");
    const put = (key: string, value: Readonly<Record<string, unknown>>) => ({
      namespace: ["notes", "é"],
      key,
      value,
    });
    await written.batch([
      put("tea", { likes: true, text: "ü'\"" }),
      put("tea", { likes: false }),
      put("gone", { a: 1 }),
      { namespace: ["notes", "é"], key: "gone", value: null },
      { namespace: ["notes", "é"], key: "never", value: null },
      { ...put("plain", { a: [1, null] }), index: false },
      Object.assign(put("short", { a: 1 }), { options: { ttl: 5 } }),
    ]);
    const { rows } = await pool.query(
      `select namespace_path, key, value, updated_at >= created_at as is_newer,
         round(extract(epoch from expires_at - now()) / 60) as minutes
       from langgraph.store order by key`,
    );
    return rows;
  }

  it("leaves the rows that PostgresStore leaves, and gives the same answers", async () => {
    const theirs = await rowsAfter(store);
    expect(await rowsAfter(held())).toEqual(theirs);
    expect(theirs).toHaveLength(3);
    const asked: Operation[] = [
      { namespace: ["notes", "é"], key: "tea" },
      { namespacePrefix: ["notes"], limit: 10, offset: 0 },
      { matchConditions: [], limit: 10, offset: 0 },
    ];
    expect(await held().batch(asked)).toEqual(await store.batch(asked));
  });

  it("sees in a batch what the same batch wrote before", async () => {
    const [, found] = await held().batch([
      { namespace: ["notes"], key: "tea", value: { likes: true } },
      { namespace: ["notes"], key: "tea" },
    ]);
    expect(found).toMatchObject({ value: { likes: true } });
  });

  it.each([[[]], [[""]], [["a.b"]], [["a%"]], [["langgraph"]]])(
    "refuses the namespace %j, as PostgresStore does",
    async (namespace) => {
      const operation = { namespace, key: "k", value: {} };
      await expect(store.batch([operation])).rejects.toThrow();
      await expect(held().batch([operation])).rejects.toMatchObject({ code: "invalid_input" });
    },
  );

  it("writes and deletes nothing once another instance drives the run, and still reads", async () => {
    await store.put(["notes"], "tea", { likes: true });
    await takeOver(pool);
    await expect(held().put(["notes"], "tea", { likes: false })).rejects.toMatchObject({ code: "conflict" });
    await expect(held().delete(["notes"], "tea")).rejects.toMatchObject({ code: "conflict" });
    expect(await held().get(["notes"], "tea")).toMatchObject({ value: { likes: true } });
  });

  it("writes nothing when the takeover came while its write was on its way", async () => {
    const heir = await pool.connect();
    await heir.query("begin");
    await takeOver(heir);
    const writing = Promise.allSettled([held().put(["notes"], "tea", { likes: true })]);
    await vi.waitUntil(
      async () => {
        const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        return rows.length > 0;
      },
      { timeout: 5_000 },
    );
    await heir.query("commit");
    heir.release();
    expect(await writing).toMatchObject([{ status: "rejected", reason: { code: "conflict" } }]);
    expect(await store.get(["notes"], "tea")).toBeNull();
  });

  it("asks the lease before each write where the store is elsewhere", async () => {
    const inner = new InMemoryStore();
    const lost = {
      async assertHeld() {
        throw new ThroughlineError("conflict", "lost");
      },
    };
    const other = fencedStore(inner, lost, fence);
    await expect(other.put(["notes"], "tea", {})).rejects.toMatchObject({ code: "conflict" });
    expect(await other.get(["notes"], "tea")).toBeNull();
  });
});
