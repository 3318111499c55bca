import { randomUUID } from "node:crypto";
import { createSimulatedClock } from "@throughline/ai-core";
import {
  admitInMemory,
  admitInTransaction,
  createMemoryDatabase,
  inTransaction,
  type PostgresDatabase,
} from "@throughline/thread-log";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createMemoryDeletionStore } from "../server/memory/memory-deletions.js";
import { type MigratedDatabase, openMigratedDatabase } from "../testing/migrated-database.js";
import { type ClaimedDeletion, type DeletionStore, threadHash } from "./deletion.js";
import { createPostgresDeletionStore } from "./deletion-store.js";

interface Wish {
  readonly account: string;
  readonly subject?: string;
  readonly threadId?: string;
}

interface Place {
  readonly store: DeletionStore;
  admit(wish: Wish): Promise<void>;
  pass(ms: number): Promise<void>;
}

let migrated: MigratedDatabase;
let database: PostgresDatabase;
beforeAll(async () => {
  migrated = await openMigratedDatabase();
  ({ database } = migrated);
});
afterAll(() => migrated.close());

function inMemory(): Place {
  const clock = createSimulatedClock(1_000_000);
  const memory = createMemoryDatabase(clock);
  return {
    store: createMemoryDeletionStore(memory),
    admit: async (wish) => admitInMemory(memory, wish),
    pass: async (ms) => clock.advance(ms),
  };
}

function inPostgres(): Place {
  const store = createPostgresDeletionStore(database);
  return {
    store,
    admit: (wish) =>
      inTransaction(database.pool, (client) => admitInTransaction(client, database.schema, wish)),
    async pass(ms) {
      await database.pool.query(
        `update ${database.schema}.deletions set due_at = due_at - $1::double precision * interval '1 millisecond'`,
        [ms],
      );
    },
  };
}

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", inPostgres],
])("Deletions kept in %s", (_, open) => {
  const place = () => {
    const account = `a-${randomUUID()}`;
    return { ...open(), account, scope: { account, subject: undefined } };
  };

  /** Of what is due, which others may have left too, the one that is meant. */
  async function claim(store: DeletionStore, id: string, leaseMs = 60_000): Promise<ClaimedDeletion> {
    for (;;) {
      const claimed = await store.claim(leaseMs);
      if (!claimed) throw new Error("It is not due.");
      if (claimed.deletion.id === id) return claimed;
    }
  }

  async function claimAll(store: DeletionStore, except: readonly string[] = []): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let next = await store.claim(60_000, except); next; next = await store.claim(60_000, except)) {
      ids.push(next.deletion.id);
    }
    return ids;
  }

  it("are one while the first of the same scope deletes, and two after that", async () => {
    const { store, scope } = place();
    const first = await store.begin({ scope, askedBy: "ann" });
    expect(await store.begin({ scope, askedBy: "bob" })).toEqual(first);
    expect((await store.begin({ scope: { ...scope, subject: "bob" }, askedBy: "bob" })).id).not.toBe(
      first.id,
    );
    await store.move(await claim(store, first.id), "deleted", 1_000);
    expect((await store.begin({ scope, askedBy: "ann" })).id).not.toBe(first.id);
  });

  it("let nothing begin in their scope while they delete and while they sweep, and everything in between", async () => {
    const { store, admit, pass, account } = place();
    const refused = { code: "conflict", details: { reason: "deleting" } };
    const { id } = await store.begin({ scope: { account, subject: "ann" }, askedBy: "ann" });
    const inside: Wish[] = [
      { account, subject: "ann" },
      { account, subject: "ann", threadId: "t1" },
    ];
    for (const wish of inside) await expect(admit(wish)).rejects.toMatchObject(refused);
    await admit({ account });
    await admit({ account, subject: "bob", threadId: "t1" });
    await admit({ account: "another", subject: "ann" });
    await store.move(await claim(store, id), "deleted", 1_000);
    for (const wish of inside) await admit(wish);
    await pass(1_001);
    const again = await claim(store, id);
    expect(again.deletion.phase).toBe("deleted");
    await store.move(again, "sweeping", 1_000);
    for (const wish of inside) await expect(admit(wish)).rejects.toMatchObject(refused);
    await store.move(again, "done", 0);
    for (const wish of inside) await admit(wish);
  });

  it("of one thread forbid that thread only, and afterwards know it by its hash only", async () => {
    const { store, admit, account } = place();
    const scope = { account, subject: "", threadId: randomUUID() };
    const { id, threadHash: hash } = await store.begin({
      scope,
      graphId: "langgraph:chat",
      askedBy: account,
    });
    expect(hash).toBe(threadHash(scope.threadId));
    await expect(admit({ account, threadId: scope.threadId })).rejects.toMatchObject({ code: "conflict" });
    await admit({ account, threadId: "another" });
    await admit({ account });
    const claimed = await claim(store, id);
    expect(claimed).toMatchObject({ scope, isListed: true });
    expect(await store.remaining(claimed, 10)).toEqual([
      { thread: { account, threadId: scope.threadId }, graphId: "langgraph:chat" },
    ]);
    await store.move(claimed, "done", 0);
    expect(await store.remaining(claimed, 10)).toEqual([]);
    expect(await store.find(id)).toMatchObject({ phase: "done", threadHash: hash });
  });

  it("are claimed by one at a time, and obey no claim that is over", async () => {
    const { store, pass, scope, account } = place();
    const { id } = await store.begin({ scope, askedBy: account });
    const slow = await claim(store, id, 100);
    const listed = [{ thread: { account, subject: "ann", threadId: "t1" }, graphId: "langgraph:chat" }];
    expect(await store.list(slow, listed, true)).toBe(true);
    expect(await store.renew(slow, 100)).toBe(true);
    await expect(claim(store, id)).rejects.toThrow("not due");
    await pass(101);
    const quick = await claim(store, id);
    expect(quick).toMatchObject({ isListed: true, attempt: slow.attempt + 1 });
    for (const change of [
      store.renew(slow, 100),
      store.list(slow, [], false),
      store.checkOff(slow, listed),
      store.count(slow, { threads: 5 }),
      store.move(slow, "done", 0),
      store.postpone(slow, 0),
    ]) {
      expect(await change).toBe(false);
    }
    expect(await store.remaining(quick, 10)).toMatchObject(listed);
    expect(await store.checkOff(quick, listed)).toBe(true);
    expect(await store.remaining(quick, 10)).toEqual([]);
    await store.count(quick, { threads: 1 });
    await store.count(quick, { crons: 2 });
    await store.move(quick, "sweeping", 100);
    expect(await store.remaining(quick, 10)).toMatchObject(listed);
    expect(await store.find(id)).toMatchObject({
      phase: "sweeping",
      counts: { threads: 1, attachments: 0, storeItems: 0, crons: 2 },
    });
  });

  it("are claimed in turn between accounts, each account's in the order they came", async () => {
    const { store, account } = place();
    const other = `b-${account}`;
    const begin = (of: string) =>
      store.begin({ scope: { account: of, subject: "", threadId: randomUUID() }, askedBy: of });
    const own: string[] = [];
    for (let count = 0; count < 4; count += 1) own.push((await begin(account)).id);
    const first = await begin(other);
    const claimed = await claimAll(store);
    const ours = claimed.filter((id) => own.includes(id) || id === first.id);
    expect(ours.indexOf(first.id)).toBeLessThanOrEqual(1);
    expect(ours.filter((id) => id !== first.id)).toEqual(own);
    const last = await begin(account);
    expect(await claimAll(store, [account])).not.toContain(last.id);
    expect(await claimAll(store)).toContain(last.id);
  });

  it("leave a receipt that is deleted once it is old", async () => {
    const { store, scope, account, pass } = place();
    const { id } = await store.begin({ scope, askedBy: account });
    await store.deleteReceipts(0, 100);
    const claimed = await claim(store, id);
    await store.move(claimed, "done", 0);
    await store.deleteReceipts(60_000, 100);
    expect(await store.find(id)).toBeDefined();
    await pass(10);
    await vi.waitFor(async () => {
      await store.deleteReceipts(1, 100);
      expect(await store.find(id)).toBeUndefined();
    });
  });

  it("that are done obey no claim, and are never due again", async () => {
    const { store, pass, account } = place();
    const scope = { account, subject: "", threadId: randomUUID() };
    const { id } = await store.begin({ scope, graphId: "langgraph:chat", askedBy: account });
    const claimed = await claim(store, id);
    // A renewal that is on its way while the last step is taken.
    await Promise.all([store.move(claimed, "done", 0), store.renew(claimed, 100)]);
    expect(await store.renew(claimed, 100)).toBe(false);
    expect(await store.postpone(claimed, 0)).toBe(false);
    await pass(101);
    await expect(claim(store, id)).rejects.toThrow("not due");
  });
});

it("A deletion waits for what is just beginning, and what begins after it is refused", async () => {
  const store = createPostgresDeletionStore(database);
  const account = `a-${randomUUID()}`;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let admitted = () => {};
  const isIn = new Promise<void>((resolve) => {
    admitted = resolve;
  });
  const order: string[] = [];
  const beginning = inTransaction(database.pool, async (client) => {
    await admitInTransaction(client, database.schema, { account });
    admitted();
    await held;
    order.push("begun");
  });
  await isIn;
  const deletion = store
    .begin({ scope: { account, subject: undefined }, askedBy: account })
    .then(() => order.push("closed"));
  // Another session's wait for the lock shows that the deletion has arrived there.
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        "select 1 from pg_locks where locktype = 'advisory' and not granted",
      );
      return rows.length;
    })
    .toBeGreaterThan(0);
  const late = inTransaction(database.pool, (client) =>
    admitInTransaction(client, database.schema, { account }),
  );
  letGo();
  await Promise.all([beginning, deletion, expect(late).rejects.toMatchObject({ code: "conflict" })]);
  expect(order).toEqual(["begun", "closed"]);
});
