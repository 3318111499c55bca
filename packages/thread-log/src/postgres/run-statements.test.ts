import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newThread, notes, readAll, runEnd } from "../conformance/log-scene.js";
import { hello, leased } from "../conformance/registry-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { ThreadLog } from "../log/thread-log.js";
import type { BadRow, RunRegistry, StartRun } from "../registry/run-registry.js";
import { countStatements } from "../testing/count-statements.js";
import { sessionsWaiting } from "../testing/sessions-waiting.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import type { ThreadRef } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";
import { deleteUnstartedThreads } from "./log/trim.js";
import { createPostgresRunRegistry } from "./registry/run-registry.js";

const lease = { owner: "here", leaseMs: 60_000 };

describe("Runs in PostgreSQL", () => {
  let fixture: TestDatabase;
  let database: PostgresDatabase;
  let registry: RunRegistry;
  let log: ThreadLog;
  let thread: ThreadRef;
  /** A connection of its own, to lock and to look with. */
  let outside: pg.Client;
  const badRows: BadRow[] = [];

  beforeAll(async () => {
    fixture = await openTestDatabase();
    database = await openPostgres({ connection: fixture.url });
    registry = createPostgresRunRegistry(database, { onBadRow: (row) => badRows.push(row) });
    outside = new pg.Client({ connectionString: fixture.url });
    await outside.connect();
  });
  afterAll(async () => {
    await outside?.end();
    await database?.close();
    await fixture?.close();
  });
  beforeEach(() => {
    badRows.length = 0;
    thread = newThread();
    log = createThreadLog({ store: createPostgresLogStore(database) });
  });
  afterEach(() => log.close());

  function request(wanted: Partial<StartRun> = {}): StartRun {
    return {
      ...lease,
      thread,
      stateKey: "chat/main",
      runId: randomUUID(),
      graphId: "langgraph:chat",
      origin: { kind: "client" },
      start: hello,
      request: { model: "m" },
      strategy: "reject",
      listing: { threadName: "main", derivedTitle: "hello" },
      ...wanted,
    };
  }

  const waiting = (count: number) => sessionsWaiting(database.pool, count);

  /** While it is held, what needs the thread queues up in the order of its coming. */
  async function lockThread(): Promise<() => Promise<unknown>> {
    await outside.query("begin");
    await outside.query("select 1 from throughline.threads where thread_id = $1 for update", [
      thread.threadId,
    ]);
    return () => outside.query("commit");
  }

  it("start with two statements, with one where the look is given, and end with none beside the log's", async () => {
    const statements = countStatements(database.pool, database.writer);
    const count = async <T>(work: () => Promise<T>): Promise<[count: number, result: T]> => {
      const before = statements.length;
      const result = await work();
      return [statements.length - before, result];
    };
    const [starting, first] = await count(() => registry.start(request()));
    expect(starting).toBe(2);
    const { run, fence } = leased(first);
    expect((await count(() => log.append(thread, notes(thread, "a"), fence)))[0]).toBe(1);
    const end = [runEnd(thread, run.runId)];
    expect((await count(() => log.append(thread, end, fence, { finish: { status: "success" } })))[0]).toBe(1);
    const asked = request();
    const [looking, look] = await count(() => registry.look({ ...asked, answers: [] }));
    const [writing, second] = await count(() => registry.start(asked, look));
    expect([looking, writing]).toEqual([1, 1]);
    await registry.start(request({ strategy: "enqueue" }));
    expect((await count(() => registry.finish(leased(second).fence, { status: "error" })))[0]).toBe(1);
    const [claiming, next] = await count(() => registry.claimNext(thread, lease));
    expect(claiming).toBe(1);
    if (!next) return expect.unreachable();
    expect((await count(() => registry.release(next.fence)))[0]).toBe(1);
    expect((await count(() => registry.claimExpired(lease, 10)))[0]).toBe(1);
    expect((await count(() => registry.claimQueued(lease, 10)))[0]).toBe(1);
  });

  it("are still the caller's when the answer to their start was lost", async () => {
    const asked = request();
    const { fence, head } = leased(await registry.start(asked));
    const again = await registry.start({ ...asked, isRetry: true });
    expect(again).toMatchObject({ kind: "started", run: { runId: asked.runId }, fence, head });
    expect(await registry.start({ ...asked, isRetry: true, owner: "elsewhere" })).toMatchObject({
      kind: "attached",
    });
    const waiting = request({ strategy: "enqueue" });
    await registry.start(waiting);
    expect(await registry.start({ ...waiting, isRetry: true })).toMatchObject({ kind: "queued", ahead: 1 });
  });

  it("tell what comes next even if it was enqueued while the end waited for the thread", async () => {
    const { run, fence } = leased(await registry.start(request()));
    const unlock = await lockThread();
    const late = request({ strategy: "enqueue" });
    const enqueueing = registry.start(late);
    await waiting(1);
    const ending = log.append(thread, [runEnd(thread, run.runId)], fence, { finish: { status: "success" } });
    await waiting(2);
    await unlock();
    expect(await enqueueing).toMatchObject({ kind: "queued" });
    expect(await ending).toMatchObject({ ok: true, next: late.runId });
  });

  it("tell what comes next also without a log, and look again where a claim came first", async () => {
    const { fence } = leased(await registry.start(request()));
    const unlock = await lockThread();
    const late = request({ strategy: "enqueue" });
    const enqueueing = registry.start(late);
    await waiting(1);
    const ending = registry.finish(fence, { status: "success" });
    await waiting(2);
    await unlock();
    await enqueueing;
    expect(await ending).toEqual({ ok: true, next: late.runId });
    const unlockAgain = await lockThread();
    const claims = [registry.claimNext(thread, lease)];
    await waiting(1);
    claims.push(registry.claimNext(thread, lease));
    await waiting(2);
    await unlockAgain();
    const claimed = await Promise.all(claims);
    expect(claimed.map((claim) => claim?.run.runId)).toEqual([late.runId, undefined]);
  });

  it("renew and end in the same order, so that a heartbeat and a commit do not wait for each other", async () => {
    const store = createPostgresLogStore(database);
    // Against the order of their ids, so that no plan comes upon that by itself.
    const start = (letter: string) => request({ runId: `${letter}-${randomUUID()}`, thread: newThread() });
    const b = leased(await registry.start(start("b")));
    const a = leased(await registry.start(start("a")));
    const commitOf = ({ run, fence }: typeof a) => {
      const text = JSON.stringify(runEnd(run.thread, run.runId));
      return {
        thread: run.thread,
        token: fence.token,
        appendId: run.runId,
        entries: [{ text, bytes: Buffer.byteLength(text), endOfRun: run.runId }],
        finish: { runId: run.runId, status: "success" },
      } as const;
    };
    await outside.query("begin");
    await outside.query("select 1 from throughline.runs where run_id = $1 for update", [b.run.runId]);
    const beat = registry.heartbeat([b.fence, a.fence], lease);
    await waiting(1);
    const commit = store.commit([commitOf(a), commitOf(b)]);
    await waiting(2);
    await outside.query("commit");
    expect(await beat).toEqual({ lost: [], stopping: [] });
    expect(await commit).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it("start after a look that an older version made out of date without saying so", async () => {
    const asked = request();
    const look = await registry.look({ ...asked, answers: [] });
    const theirs = leased(await registry.start(request()));
    await outside.query("update throughline.threads set revision = $2 where thread_id = $1", [
      thread.threadId,
      look.revision,
    ]);
    expect(await registry.start(asked, look)).toMatchObject({ kind: "busy", runId: theirs.run.runId });
    await expect(registry.start({ ...asked, thread: newThread(), runId: theirs.run.runId })).rejects.toThrow(
      "duplicate key",
    );
  });

  it("R17: make the fence a condition of a write, which a takeover waits for", async () => {
    await outside.query("create table if not exists written (what text)");
    const { run, fence } = leased(await registry.start(request()));
    const held = registry.heldQuery?.(2);
    if (held === undefined) return expect.unreachable();
    const write = `insert into written select $1::text where exists (${held})`;
    const values = [fence.runId, fence.token.toString()];
    await outside.query("begin");
    expect(await outside.query(write, ["first", ...values])).toMatchObject({ rowCount: 1 });
    const releasing = registry.release(fence);
    await waiting(1);
    await outside.query("commit");
    await releasing;
    const claims = await registry.claimExpired(lease, 100);
    expect(claims.map((claim) => claim.run.runId)).toContain(run.runId);
    expect(await outside.query(write, ["too late", ...values])).toMatchObject({ rowCount: 0 });
    await expect(registry.assertHeld(fence)).rejects.toMatchObject({ code: "conflict" });
  });

  it("R17: let no write pass that waited for the takeover", async () => {
    await outside.query("create table if not exists written (what text)");
    const { fence } = leased(await registry.start(request()));
    const held = registry.heldQuery?.(2);
    if (held === undefined) return expect.unreachable();
    await registry.release(fence);
    await outside.query("begin");
    await outside.query("select 1 from throughline.threads where thread_id = $1 for update", [
      thread.threadId,
    ]);
    await outside.query(
      "update throughline.runs set fence = fence + 1, lease_until = clock_timestamp() where run_id = $1",
      [fence.runId],
    );
    const writing = database.pool.query(`insert into written select $1::text where exists (${held})`, [
      "late",
      fence.runId,
      fence.token.toString(),
    ]);
    await waiting(1);
    await outside.query("commit");
    expect(await writing).toMatchObject({ rowCount: 0 });
  });

  describe("that can't be read", () => {
    async function breakRow(runId: string, column: "start" | "request", text: string): Promise<void> {
      await outside.query(`update throughline.runs set ${column} = $2 where run_id = $1`, [runId, text]);
    }
    const statusOf = async (runId: string) => {
      const { rows } = await outside.query<{ status: string }>(
        "select status from throughline.runs where run_id = $1",
        [runId],
      );
      return rows[0]?.status;
    };

    it.each([
      ["start", "{"],
      ["start", '{"messages":[]}'],
      ["request", "[1]"],
      ["request", "null"],
    ] as const)(
      "because of %s %j end as errors when they are claimed, and others go on",
      async (column, text) => {
        const [bad, good] = [leased(await registry.start(request())).fence, request({ thread: newThread() })];
        const { fence } = leased(await registry.start(good));
        for (const each of [bad, fence]) await registry.release(each);
        await breakRow(bad.runId, column, text);
        const claims = await registry.claimExpired(lease, 1_000);
        expect(claims.map(({ run }) => run.runId)).toContain(good.runId);
        expect(claims.map(({ run }) => run.runId)).not.toContain(bad.runId);
        expect(await statusOf(bad.runId)).toBe("error");
        expect(badRows).toEqual([{ table: "runs", id: bad.runId, error: expect.any(Error) }]);
        leased(await registry.start(request()));
      },
    );

    it("make room in their queue, and leave the questions of their thread open", async () => {
      const first = leased(await registry.start(request()));
      const [bad, good] = [request({ strategy: "enqueue" }), request({ strategy: "enqueue" })];
      for (const each of [bad, good]) await registry.start(each);
      await breakRow(bad.runId, "request", "not JSON");
      await registry.finish(first.fence, { status: "success" });
      expect((await registry.claimNext(thread, lease))?.run.runId).toBe(good.runId);
      expect(await statusOf(bad.runId)).toBe("error");
      const other = newThread();
      const asking = leased(await registry.start(request({ thread: other })));
      const answering = request({
        thread: other,
        start: { kind: "resume", answers: {} },
        strategy: "enqueue",
      });
      await registry.start(answering);
      await breakRow(answering.runId, "request", "not JSON");
      await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1"] });
      const claims = await registry.claimQueued(lease, 1_000);
      expect(claims.map(({ run }) => run.runId)).not.toContain(answering.runId);
      expect(await statusOf(answering.runId)).toBe("error");
      expect(await registry.openInterrupts(other)).toEqual([{ interruptId: "i1", runId: asking.run.runId }]);
    });

    it("are left out of lists, and can be stopped", async () => {
      const { run } = leased(await registry.start(request({ alias: "bad" })));
      const good = request({ strategy: "enqueue" });
      await registry.start(good);
      await breakRow(run.runId, "request", "not JSON");
      expect((await registry.list(thread, 10)).map(({ runId }) => runId)).toEqual([good.runId]);
      expect((await registry.open(thread)).map(({ runId }) => runId)).toEqual([good.runId]);
      expect(await registry.find(thread, { alias: "bad" })).toBeUndefined();
      expect(await registry.active(thread)).toBeUndefined();
      expect(badRows.map(({ id }) => id)).toEqual(Array.from({ length: 4 }, () => run.runId));
      expect(await registry.stop(thread, { alias: "bad" })).toMatchObject({
        kind: "stopping",
        run: { runId: run.runId, request: {}, start: undefined },
      });
      await expect(registry.start(request({ alias: "bad" }))).rejects.toMatchObject({ code: "internal" });
      expect(await registry.start(request())).toMatchObject({ kind: "busy", runId: run.runId });
    });
  });

  it("are pruned, and unstarted threads deleted, by no more than was asked for, whatever plan the server makes", async () => {
    const plain = ["hashagg", "hashjoin", "mergejoin", "sort", "material", "memoize"];
    const options = plain.map((way) => `-c enable_${way}=off`).join(" ");
    const connection = { connectionString: fixture.url, options };
    const plainly = await openPostgres({ connection });
    try {
      const pruning = createPostgresRunRegistry(plainly);
      while ((await pruning.pruneEnded(-1_000, 100)) > 0);
      for (const _ of ["one", "two", "three"]) {
        const { fence } = leased(await registry.start(request()));
        await registry.finish(fence, { status: "success" });
        await registry.stop(newThread(), { runId: "unknown" });
      }
      expect(await pruning.pruneEnded(-1_000, 1)).toBe(1);
      expect(await pruning.pruneEnded(-1_000, 9)).toBe(2);
      const past = "clock_timestamp() - interval '1 day'";
      await outside.query(`update throughline.threads set created_at = ${past} where fence = 0`);
      await outside.query(`update throughline.stops set expires_at = ${past}`);
      expect(await deleteUnstartedThreads(plainly, 1)).toBe(1);
      expect(await deleteUnstartedThreads(plainly, 9)).toBe(2);
    } finally {
      await plainly.close();
    }
  });

  it("keep the log's entries and the run's end together when the commit fails", async () => {
    const { run, fence } = leased(await registry.start(request()));
    await log.append(thread, notes(thread, "a"), fence);
    const impossible = [`i${"\u0000"}`];
    const ending = log.append(thread, [runEnd(thread, run.runId)], fence, {
      finish: {
        status: "interrupted",
        interrupts: impossible,
      },
    });
    await expect(ending).rejects.toThrow();
    expect(await readAll(log, thread)).toEqual(["a"]);
    expect(await registry.find(thread, run)).toMatchObject({ status: "running" });
  });
});
