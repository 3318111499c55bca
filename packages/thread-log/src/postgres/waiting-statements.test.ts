import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newThread, note, runEnd } from "../conformance/log-scene.js";
import { hello, leased } from "../conformance/registry-scene.js";
import { encodeEnvelope } from "../log/entries.js";
import type { LogStore } from "../log/log-store.js";
import type { LeasedRun, RunRegistry, StartRun } from "../registry/run-registry.js";
import { sessionsWaiting } from "../testing/sessions-waiting.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import type { ThreadRef } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";
import { finishRuns } from "./registry/finish.js";
import { createPostgresRunRegistry } from "./registry/run-registry.js";

const lease = { owner: "here", leaseMs: 60_000 };
const SOON_MS = 5_000;

/** What a statement has read before it waited for a lock may not hold any more when it gets it. */
describe("A statement that waits for another session", () => {
  let fixture: TestDatabase;
  let database: PostgresDatabase;
  let registry: RunRegistry;
  let store: LogStore;
  let thread: ThreadRef;
  /** Holds locks. */
  let outside: pg.Client;

  beforeAll(async () => {
    fixture = await openTestDatabase();
    database = await openPostgres({ connection: fixture.url });
    registry = createPostgresRunRegistry(database);
    // A commit of a thread that is held gives up soon, and then says nothing about what it waited for.
    store = createPostgresLogStore({ ...database, commit: (query) => database.pool.query(query) });
    outside = new pg.Client({ connectionString: fixture.url });
    await outside.connect();
  });
  afterAll(async () => {
    await outside?.end();
    await database?.close();
    await fixture?.close();
  });
  beforeEach(() => {
    thread = newThread();
  });

  const request = (wanted: Partial<StartRun> = {}): StartRun => ({
    ...lease,
    thread,
    stateKey: "chat/main",
    runId: randomUUID(),
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    start: hello,
    request: {},
    strategy: "reject",
    listing: { threadName: "main", derivedTitle: undefined },
    ...wanted,
  });
  const start = async (wanted?: Partial<StartRun>) => leased(await registry.start(request(wanted)));
  const waiting = (count: number) => sessionsWaiting(database.pool, count);
  const ofThread = (statement: string) =>
    outside.query(`${statement} where account = $1 and subject = '' and thread_id = $2`, [
      thread.account,
      thread.threadId,
    ]);

  /** Sends the work while the thread's row is held, and what changes meanwhile. Which of several gets the row first is open. */
  async function whileLocked<T>(
    work: readonly (() => Promise<T>)[],
    change: () => Promise<unknown> = async () => {},
  ): Promise<T[]> {
    await outside.query("begin");
    await ofThread("update throughline.threads set state_key = state_key");
    const sent: Promise<T>[] = [];
    try {
      for (const send of work) {
        sent.push(send());
        await waiting(sent.length);
      }
      await change();
    } finally {
      await outside.query("commit");
    }
    return Promise.all(sent);
  }

  /** Answered while the row is held, not after it. */
  async function skips<T>(lock: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
    await outside.query("begin");
    await lock();
    try {
      const timer = new Promise<never>((_, reject) => {
        setTimeout(reject, SOON_MS, new Error("it waits for the lock")).unref();
      });
      return await Promise.race([work(), timer]);
    } finally {
      await outside.query("rollback");
    }
  }

  it("ends a run once, whatever waits to end it", async () => {
    const { run, fence } = await start();
    const results = await whileLocked([
      () => registry.finish(fence, { status: "success" }),
      () => registry.finish(fence, { status: "error" }),
    ]);
    expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, next: undefined }]);
    expect(results.filter(({ ok }) => !ok)).toEqual([{ ok: false, reason: "ended" }]);
    const status = results[0]?.ok ? "success" : "error";
    expect(await registry.find(thread, run)).toMatchObject({ status });
  });

  it("ends no run that was recovered meanwhile", async () => {
    const { run, fence } = await start();
    const [result] = await whileLocked([() => registry.finish(fence, { status: "success" })], () =>
      ofThread("update throughline.runs set fence = fence + 1"),
    );
    expect(result).toEqual({ ok: false, reason: "fenced" });
    expect(await registry.find(thread, run)).toMatchObject({ status: "running" });
  });

  it.each([
    ["ended", "status = 'error', owner = null, lease_until = null, ended_at = now()", "error"],
    ["recovered", "fence = fence + 1", "running"],
  ])("ends no run that was %s meanwhile, and those beside it all the same", async (_, change, status) => {
    const withAppend = (runs: readonly LeasedRun[]) =>
      store.commit(
        runs.map(({ run, fence: { token } }, index) => ({
          ...{ thread: run.thread, token, appendId: `waiting-stmts.00${index}` },
          entries: [encodeEnvelope(runEnd(run.thread, run.runId))],
          finish: { runId: run.runId, status: "success" } as const,
        })),
      );
    const alone = (runs: readonly LeasedRun[]) =>
      finishRuns(
        database,
        runs.map(({ fence }) => ({ ...fence, status: "success" as const })),
      );
    for (const end of [withAppend, alone]) {
      thread = newThread();
      const [own, other] = [await start(), await start({ thread: newThread() })];
      await whileLocked<unknown>([() => end([other, own])], () =>
        ofThread(`update throughline.runs set ${change}`),
      );
      expect(await registry.find(thread, own.run)).toMatchObject({ status });
      expect(await registry.find(other.run.thread, other.run)).toMatchObject({ status: "success" });
    }
  });

  it("holds no run that is recovered this moment", async () => {
    const { fence } = await start();
    await outside.query("begin");
    await ofThread("update throughline.runs set fence = fence + 1");
    const holding = registry.assertHeld(fence).catch((error: unknown) => error);
    await waiting(1);
    await outside.query("commit");
    expect(await holding).toMatchObject({ code: "conflict" });
  });

  it("starts no run that was stopped meanwhile", async () => {
    await registry.finish((await start()).fence, { status: "success" });
    const late = request();
    const names = [thread.account, thread.threadId];
    await outside.query("begin");
    // Not an update: a start waits for that before it looks at the row.
    await outside.query(
      "select from throughline.threads where account = $1 and thread_id = $2 for update",
      names,
    );
    const starting = registry.start(late);
    await waiting(1);
    await outside.query(
      `insert into throughline.stops (account, subject, thread_id, run_name, expires_at)
       values ($1, '', $2, $3, now() + interval '1 hour')`,
      [...names, late.runId],
    );
    await ofThread("update throughline.threads set revision = revision + 1");
    await outside.query("commit");
    expect(await starting).toMatchObject({ kind: "cancelled" });
  });

  it("claims a run once, whatever waits to claim it", async () => {
    const { fence } = await start();
    const next = request({ strategy: "enqueue" });
    await registry.start(next);
    await registry.finish(fence, { status: "success" });
    const claims = await whileLocked([
      () => registry.claimNext(thread, lease),
      () => registry.claimNext(thread, lease),
    ]);
    expect(claims.flatMap((claim) => claim?.run.runId ?? [])).toEqual([next.runId]);
  });

  it("gives up no lease that another driver has by now", async () => {
    const { run, fence } = await start();
    const released = async () => {
      const found = await registry.find(thread, run);
      return [found?.leaseUntil === Number.NEGATIVE_INFINITY, found?.crashes, found?.status];
    };
    await whileLocked([() => registry.release(fence)], () =>
      ofThread("update throughline.runs set fence = fence + 1"),
    );
    expect(await released()).toEqual([false, 0, "running"]);
    await ofThread("update throughline.runs set fence = fence - 1");
    await whileLocked([() => registry.release(fence)], () =>
      ofThread(
        "update throughline.runs set status = 'success', owner = null, lease_until = null, ended_at = now()",
      ),
    );
    expect(await released()).toEqual([false, 0, "success"]);
  });

  it("renews no lease that another driver has by now", async () => {
    const { run, fence } = await start();
    await outside.query("begin");
    await ofThread("update throughline.runs set fence = fence + 1");
    const beat = registry.heartbeat([fence], { ...lease, leaseMs: 600_000 });
    await waiting(1);
    await outside.query("commit");
    expect(await beat).toEqual({ lost: [run.runId], stopping: [] });
    expect(await registry.find(thread, run)).toMatchObject({ leaseUntil: run.leaseUntil });
  });

  it("saves no snapshot of a log that was deleted meanwhile", async () => {
    const { head } = await start();
    const snapshot = { position: head, foldVersion: 1, state: 0 };
    const [isSaved] = await whileLocked([() => store.saveSnapshot(thread, snapshot)], () =>
      ofThread("update throughline.threads set epoch = 'other'"),
    );
    expect(isSaved).toBe(false);
    expect(await store.snapshot(thread, [1])).toBeUndefined();
  });

  it("saves a snapshot once, whatever waits to save it", async () => {
    const { head } = await start();
    const save = () => store.saveSnapshot(thread, { position: head, foldVersion: 1, state: 0 });
    expect((await whileLocked([save, save])).filter((isSaved) => isSaved)).toHaveLength(1);
  });

  it("compacts nothing of a log that was trimmed meanwhile, and lowers no floor", async () => {
    const { head, fence } = await start();
    const { epoch } = head;
    const entries = ["a", "b", "c", "d"].map((text) => encodeEnvelope(note(thread, text)));
    await store.commit([{ thread, token: fence.token, appendId: "waiting-stmts.001", entries }]);
    await store.saveSnapshot(thread, { position: { epoch, seq: 4 }, foldVersion: 1, state: 0 });
    const asked = { epoch, floor: 1, compacted: 0, through: 2, dropped: [], merged: [] };
    const results = await whileLocked<unknown>(
      [async () => store.compaction?.compact(thread, asked), () => store.trim(thread, epoch, 1, 0)],
      () => ofThread("update throughline.threads set floor = 3"),
    );
    expect(results).toMatchObject([false, { floor: 3 }]);
    for (const change of ["epoch = 'other'", "compacted = 1"]) {
      await whileLocked([() => store.trim(thread, epoch, 3, 0)], () =>
        ofThread(`update throughline.threads set ${change}`),
      );
      const [range] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 9);
      expect(range).toMatchObject({ floor: 3 });
      await ofThread(`update throughline.threads set epoch = '${epoch}', compacted = 0`);
    }
    expect(await store.trim(thread, epoch, 3, 0)).toMatchObject({ floor: 4 });
  });

  it("is not sent where what is held can be left to the next round", async () => {
    const first = await start();
    await registry.release(first.fence);
    const lockThread = () => ofThread("update throughline.threads set state_key = state_key");
    expect(await skips(lockThread, () => registry.claimExpired(lease, 100))).toEqual([]);
    const lockRun = () => ofThread("update throughline.runs set owner = owner");
    expect(await skips(lockRun, () => registry.claimExpired(lease, 100))).toEqual([]);
    await registry.start(request({ strategy: "enqueue" }));
    await registry.finish(first.fence, { status: "success" });
    expect(await skips(lockThread, () => registry.claimQueued(lease, 100))).toEqual([]);
    await ofThread("update throughline.runs set ended_at = ended_at - interval '1 day'");
    const left = async () => (await registry.list(thread, 10)).map(({ runId }) => runId);
    await skips(lockRun, () => registry.pruneEnded(1_000, 100));
    expect(await left()).toContain(first.run.runId);
    await registry.pruneEnded(1_000, 100);
    expect(await left()).not.toContain(first.run.runId);
  });
});
