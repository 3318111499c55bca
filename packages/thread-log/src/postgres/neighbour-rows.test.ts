import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newThread, runEnd } from "../conformance/log-scene.js";
import { neighboursOf } from "../conformance/neighbourhood.js";
import {
  leased,
  type RegistryFixture,
  type RegistryScene,
  resume,
  withRegistryScene,
} from "../conformance/registry-scene.js";
import { appendOf, written } from "../conformance/store-scene.js";
import { encodeEnvelope } from "../log/entries.js";
import { openPostgresRegistryFixture } from "../testing/postgres-registry-fixture.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { openTestPool } from "../testing/test-pool.js";
import { subjectKey, type ThreadRef } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { finishRuns, nextStatement } from "./registry/finish.js";

/** Ids of runs, tokens and epochs are unique, but no statement relies on that to keep accounts apart. Rows are made by hand. */
describe("What is done in one thread leaves the others alone", () => {
  let server: TestDatabase;
  let fixture: RegistryFixture;
  let pool: pg.Pool;
  let database: PostgresDatabase;
  beforeAll(async () => {
    server = await openTestDatabase();
    fixture = await openPostgresRegistryFixture({ openDatabase: async () => server });
    pool = openTestPool(server.url, 2);
    database = await openPostgres({ connection: server.url });
  });
  afterAll(async () => {
    await database?.close();
    await pool?.end();
    await fixture?.close();
  });

  const scene = (run: (scene: RegistryScene) => Promise<void>) => () => withRegistryScene(fixture, run);

  async function ask(of: ThreadRef, runId: string, answeredBy?: string): Promise<void> {
    await pool.query(
      `insert into throughline.interrupts (account, subject, thread_id, interrupt_id, run_id, answered_by)
       values ($1, $2, $3, $4, $5, $6)`,
      [of.account, subjectKey(of), of.threadId, randomUUID(), runId, answeredBy ?? null],
    );
  }

  it(
    "whose questions name the run that is pruned",
    scene(async ({ registry, request, thread }) => {
      const { run, fence } = leased(await registry.start(request()));
      await registry.finish(fence, { status: "success" });
      for (const each of neighboursOf(thread)) await ask(each, run.runId);
      await registry.pruneEnded(-1_000, 1_000);
      expect(await registry.find(thread, run)).toBeUndefined();
    }),
  );

  it(
    "whose questions name the run that is cancelled",
    scene(async ({ registry, request, thread }) => {
      const asking = leased(await registry.start(request()));
      const waiting = request({ strategy: "enqueue" });
      await registry.start(waiting);
      const others = neighboursOf(thread);
      for (const each of [thread, ...others]) await ask(each, asking.run.runId, waiting.runId);
      await registry.stop(thread, { runId: waiting.runId });
      expect(await registry.openInterrupts(thread)).toHaveLength(1);
      for (const each of others) expect(await registry.openInterrupts(each)).toEqual([]);
    }),
  );

  it(
    "where several runs end at once",
    scene(async ({ registry, request }) => {
      const runs = [];
      for (const of of [newThread(), newThread()]) {
        const asking = leased(await registry.start(request({ thread: of })));
        await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
        runs.push(leased(await registry.start(request({ thread: of, start: resume({}) }))));
      }
      const finishes = runs.map(({ fence }, n) => ({
        ...fence,
        status: "interrupted" as const,
        interrupts: [`i${n + 1}`],
      }));
      expect(await finishRuns(database, finishes)).toMatchObject([{ ok: true }, { ok: true }]);
      for (const [n, { run }] of runs.entries()) {
        expect(await registry.openInterrupts(run.thread)).toEqual([
          { interruptId: `i${n + 1}`, runId: run.runId },
        ]);
      }
      const ids = runs.map(({ run }) => run.runId).slice(1);
      const { rows } = await pool.query<{ run_id: string }>(nextStatement("throughline"), [ids]);
      expect(rows.map(({ run_id }) => run_id)).toEqual(ids);
    }),
  );

  it(
    "whose runs hold the same token: neither end waits for them",
    scene(async ({ registry, request, thread, instance }) => {
      const other = leased(await registry.start(request({ thread: newThread() })));
      const locking = await pool.connect();
      try {
        for (const isAppend of [false, true]) {
          const { run, fence } = leased(await registry.start(request()));
          const { token } = fence;
          await pool.query("update throughline.runs set fence = $2 where run_id = $1", [
            other.run.runId,
            token,
          ]);
          await locking.query("begin");
          await locking.query("select 1 from throughline.runs where run_id = $1 for update", [
            other.run.runId,
          ]);
          const finish = { runId: run.runId, status: "success" } as const;
          const entries = [encodeEnvelope(runEnd(thread, run.runId))];
          const end = { ...appendOf(thread), token, entries, finish };
          const result = isAppend
            ? (await instance.store.commit([end]))[0]
            : await registry.finish(fence, { status: "success" });
          await locking.query("rollback");
          expect(result).toMatchObject({ ok: true });
        }
      } finally {
        locking.release();
      }
    }),
  );

  it(
    "whose trim was interrupted, in the same epoch",
    scene(async ({ instance: { store }, thread }) => {
      const other = newThread();
      const epoch = await written(store, thread, "a b c d");
      await store.open(thread, 2n, undefined);
      await store.commit([{ ...appendOf(thread, "e", "f"), token: 2n }]);
      await written(store, other, "a b c d e f");
      await pool.query("update throughline.threads set epoch = $2, floor = 6 where thread_id = $1", [
        other.threadId,
        epoch,
      ]);
      // As little as an older version may have counted.
      await pool.query("update throughline.threads set held_bytes = 1 where thread_id = $1", [
        thread.threadId,
      ]);
      await store.saveSnapshot(thread, { position: { epoch, seq: 2 }, foldVersion: 1, state: 0 });
      expect(await store.trim(thread, epoch, 2, 0)).toEqual({ dropped: 2, floor: 3 });
      const [range] = await store.read([{ thread, epoch, afterSeq: 2 }], 9);
      expect(range?.entries).toHaveLength(4);
      const append = { ...appendOf(thread, "g"), token: 2n };
      expect(await store.commit([append])).toMatchObject([
        { ok: true, held: { bytes: append.entries[0]?.bytes } },
      ]);
    }),
  );
});
