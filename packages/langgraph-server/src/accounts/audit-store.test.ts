import { randomUUID } from "node:crypto";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BadRow } from "../operations/observer.js";
import { createMemoryAuditStore } from "../server/memory/memory-stores.js";
import { openMigratedDatabase } from "../testing/migrated-database.js";
import type { Action } from "./actions.js";
import type { AuditEntry, NewAuditEntry } from "./audit-entry.js";
import { type AuditRetention, type AuditStore, createPostgresAuditStore } from "./audit-store.js";

interface Place {
  readonly store: AuditStore;
  now(): Promise<number>;
  /** Spoils what is stored of an entry, where that can happen. */
  spoil?(id: string): Promise<void>;
  close(): Promise<void>;
}

async function inMemory(): Promise<Place> {
  const database = createMemoryDatabase();
  return {
    store: createMemoryAuditStore(database),
    now: async () => database.clock.now(),
    async close() {},
  };
}

async function inPostgres(): Promise<Place> {
  const { database, close } = await openMigratedDatabase();
  const { pool, schema } = database;
  return {
    store: createPostgresAuditStore(database),
    async now() {
      const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
      return rows[0]?.now.getTime() ?? 0;
    },
    async spoil(id) {
      await pool.query(`update ${schema}.audit set details = '{"role":"emperor"}' where entry_id = $1`, [id]);
    },
    close,
  };
}

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", inPostgres],
] as const)("The audit record in %s", (_, open) => {
  let place: Place;
  let account: string;
  beforeAll(async () => {
    place = await open();
  });
  beforeEach(() => {
    account = `a-${randomUUID()}`;
  });
  afterAll(() => place.close());

  function entry(action: Action, more: Partial<NewAuditEntry> = {}): NewAuditEntry {
    return {
      id: randomUUID(),
      account,
      subject: "ann",
      role: "operator",
      action,
      outcome: "done",
      code: undefined,
      address: "127.0.0.1",
      requestId: "r",
      route: "POST /x",
      thread: { account, subject: "ann", threadId: "thread" },
      target: { agentId: "langgraph:chat", threadName: "tides", runId: "run" },
      answer: undefined,
      times: 1,
      ...more,
    };
  }
  /** Each a minute after the one before it. */
  async function add(...entries: readonly NewAuditEntry[]): Promise<void> {
    await place.store.append(
      entries.map((one, index) => ({ entry: one, ageMs: (entries.length - index) * 60_000 })),
    );
  }
  async function all(order: "newest" | "oldest" = "oldest"): Promise<readonly AuditEntry[]> {
    return (await place.store.list(account, { order, limit: 100 })).entries;
  }
  const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

  it("keeps what was said of an entry, with the time at which it happened", async () => {
    const answered = entry("answer", { answer: '{"q":"yes"}', code: "busy", outcome: "failed" });
    await place.store.append([{ entry: answered, ageMs: 5_000 }]);
    const [found, ...others] = await all();
    const { thread: _thread, ...told } = answered;
    expect(found).toMatchObject(JSON.parse(JSON.stringify(told)));
    expect(others).toEqual([]);
    const age = (await place.now()) - (found?.at ?? 0);
    expect(age).toBeGreaterThanOrEqual(4_999);
    expect(age).toBeLessThan(60_000);
  });

  it("holds an entry once, however often it is written", async () => {
    const one = entry("stop");
    await add(one);
    await add(one, entry("answer"));
    expect(await all()).toHaveLength(2);
  });

  it("is paged without a gap, in either direction, by action and by person", async () => {
    const entries = Array.from({ length: 7 }, (_none, index) =>
      entry(index % 2 === 0 ? "stop" : "answer", { subject: index < 4 ? "ann" : undefined }),
    );
    // All in one moment, so that order is by id within it.
    await place.store.append(entries.map((one) => ({ entry: one, ageMs: 0 })));
    await place.store.append([{ entry: entry("stop", { account: "another" }), ageMs: 0 }]);
    for (const order of ["newest", "oldest"] as const) {
      const seen: string[] = [];
      let after: { at: number; id: string } | undefined;
      do {
        const page = await place.store.list(account, { order, limit: 2, after });
        seen.push(...idsOf(page.entries));
        after = page.next && { at: page.next.at, id: page.next.id };
      } while (after !== undefined);
      expect(seen).toEqual(idsOf(await all(order)));
      expect(new Set(seen)).toEqual(new Set(idsOf(entries)));
    }
    const stops = await place.store.list(account, { order: "oldest", limit: 100, action: "stop" });
    expect(stops.entries).toHaveLength(4);
    const anns = await place.store.list(account, { order: "oldest", limit: 100, subject: "ann" });
    expect(anns.entries).toHaveLength(4);
  });

  it("forgets what is older than its age, and nothing else", async () => {
    await place.store.append([
      { entry: entry("stop"), ageMs: 86_400_000 },
      { entry: entry("answer"), ageMs: 1_000 },
    ]);
    while ((await place.store.prune(3_600_000, 1)) > 0);
    expect((await all()).map(({ action }) => action)).toEqual(["answer"]);
  });

  async function afterDeleting(
    scope: { subject?: string; threadId?: string },
    keep: AuditRetention,
  ): Promise<string[]> {
    await add(
      entry("answer", { answer: '"a secret"' }),
      entry("stop", { subject: "bob", thread: { account, threadId: "shared" } }),
      entry("delete_thread"),
      entry("delete_data", { subject: undefined, thread: undefined, target: {} }),
    );
    await place.store.append([{ entry: entry("answer", { account: "another" }), ageMs: 1 }]);
    const until = await place.now();
    await place.store.deleteScope({ account, subject: scope.subject, threadId: scope.threadId }, until, keep);
    return (await all()).map(({ action, subject, target, answer }) =>
      [action, subject ?? "-", target.threadName ?? "-", answer ?? "-"].join(" "),
    );
  }

  it("keeps of a deleted account who deleted what, without a name or a word", async () => {
    expect(await afterDeleting({}, "receipts")).toEqual(["delete_thread ann - -", "delete_data - - -"]);
  });

  it("keeps of a deleted person or thread who did what, without a name or a word", async () => {
    const kept = ["answer ann - -", "stop bob tides -", "delete_thread ann - -", "delete_data - - -"];
    expect(await afterDeleting({ subject: "ann" }, "receipts")).toEqual(kept);
    account = `a-${randomUUID()}`;
    expect(await afterDeleting({ subject: "ann", threadId: "thread" }, "receipts")).toEqual(kept);
  });

  it("keeps everything or nothing of what was deleted where it is told so", async () => {
    expect(await afterDeleting({}, "none")).toEqual([]);
    account = `a-${randomUUID()}`;
    expect(await afterDeleting({}, "all")).toHaveLength(4);
    account = `a-${randomUUID()}`;
    expect(await afterDeleting({ subject: "ann" }, "none")).toEqual([
      "stop bob tides -",
      "delete_data - - -",
    ]);
    expect(
      (await place.store.list("another", { order: "oldest", limit: 100 })).entries.length,
    ).toBeGreaterThan(0);
  });

  it("leaves alone what came after the deletion was asked for", async () => {
    await place.store.append([{ entry: entry("answer"), ageMs: 60_000 }]);
    const asked = (await place.now()) - 30_000;
    await place.store.append([{ entry: entry("stop"), ageMs: 0 }]);
    await place.store.deleteScope({ account, subject: undefined }, asked, "none");
    expect((await all()).map(({ action }) => action)).toEqual(["stop"]);
  });

  it("goes on behind an entry that can't be read, and says which it is", async () => {
    const bad: BadRow[] = [];
    place.store.onBadRow((row) => bad.push(row));
    const [first, second] = [entry("stop"), entry("answer")];
    await add(first, second);
    await place.spoil?.(first.id);
    const page = await place.store.list(account, { order: "oldest", limit: 1 });
    expect(page.next).toMatchObject({ id: first.id });
    expect((await all()).map(({ action }) => action).at(-1)).toBe("answer");
    if (place.spoil) expect(bad[0]).toMatchObject({ table: "audit", id: first.id });
  });
});
