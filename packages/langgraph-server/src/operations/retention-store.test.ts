import { randomUUID } from "node:crypto";
import { createMemoryCheckpointer } from "@throughline/graph-executor";
import {
  createMemoryDatabase,
  inTransaction,
  lockIdleThread,
  openPostgres,
  type PostgresDatabase,
} from "@throughline/thread-log";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createMemoryRetentionStore } from "../server/memory/memory-crons.js";
import { ofType } from "../testing/frame-recorder.js";
import { addOldCheckpoints, countRows, missingBlobs } from "../testing/old-checkpoints.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { threadAddress } from "../threads/thread-address.js";
import { createPostgresRetentionStore, type RetentionStore } from "./retention-store.js";

const OLD = 10_000;
const RETENTION = { keepNewest: 20 };

let postgres: TestPostgres;
let database: PostgresDatabase;
let store: RetentionStore;
let scene: ServiceScene;
beforeAll(async () => {
  postgres = await openTestPostgres();
  scene = await openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url }, leaseMs: 2_000 });
  database = await openPostgres({ connection: postgres.url });
  store = createPostgresRetentionStore(database);
});
afterAll(async () => {
  await scene.close();
  await database.close();
  await postgres.close();
});

describe("A thread with 10,000 checkpoints", () => {
  it("is bounded by one round, and goes on, forks at what is kept and shows its history", async () => {
    const thread = scene.thread("poet");
    const { threadId } = thread.ref;
    const place = { graphId: thread.graphId, threadId };
    await scene.run(thread, "Write about rain");
    const real = await countRows(database.pool, threadId);
    await addOldCheckpoints(database.pool, threadId, OLD);
    expect((await countRows(database.pool, threadId)).checkpoints).toBe(real.checkpoints + OLD);

    const planned = await store.pruneCheckpoints(RETENTION, { isDryRun: true });
    expect((await countRows(database.pool, threadId)).checkpoints).toBe(real.checkpoints + OLD);
    const pruned = await store.pruneCheckpoints(RETENTION, {});
    expect({ ...planned.checkpoints, bytes: 0 }).toEqual({ ...pruned.checkpoints, bytes: 0 });
    expect(planned.checkpoints.bytes).toBeGreaterThan(0);
    expect(planned.threads).toBe(1);

    const left = await countRows(database.pool, threadId);
    expect(left.checkpoints).toBe(RETENTION.keepNewest);
    expect(left.blobs).toBe(real.blobs + RETENTION.keepNewest - real.checkpoints);
    expect(left.writes).toBe(real.writes + RETENTION.keepNewest - real.checkpoints);
    expect(await missingBlobs(database.pool, threadId)).toBe(0);
    expect((await store.pruneCheckpoints(RETENTION, {})).checkpoints.checkpoints).toBe(0);

    const next = await scene.run(thread, "And about snow");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    const { service } = scene;
    const newest = await service.state.getState(place);
    expect(newest?.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    const history = await service.state.history(place, { limit: 100 });
    expect(history.length).toBeGreaterThan(RETENTION.keepNewest);
    const past = history.find(({ messages, next: nodes }) => messages?.length === 2 && nodes.length === 0);
    if (!past) throw new Error("The end of the first run is kept.");
    const fork = threadAddress({ billingAccountId: "acme" }, "poet", `fork ${randomUUID()}`);
    await service.threads.fork({ from: thread, checkpointId: past.checkpointId, to: fork });
    await scene.run(fork, "And about hail");
    const forked = await service.state.getState({ graphId: fork.graphId, threadId: fork.ref.threadId });
    expect(forked?.messages).toHaveLength(4);
    const inPlace = await scene.run(thread, {
      kind: "fork",
      checkpointId: past.checkpointId,
      messages: [{ id: randomUUID(), role: "user", content: "Once more" }],
    });
    expect(inPlace.types().at(-1)).toBe("RUN_FINISHED");
    const oldest = history.at(-1)?.checkpointId ?? "";
    expect(await service.state.getState(place, oldest)).toBeDefined();
    expect(scene.failures).toEqual([]);
  });

  it("still takes the answer to its open question", async () => {
    const thread = scene.thread("travel");
    const place = { graphId: thread.graphId, threadId: thread.ref.threadId };
    await scene.run(thread, "from Amsterdam to San Francisco");
    const before = await scene.service.state.getState(place);
    const [question] = before?.interrupts ?? [];
    if (!question) throw new Error("The trip asks for a flight.");
    await addOldCheckpoints(database.pool, thread.ref.threadId, 1_000);
    const { checkpoints } = await store.pruneCheckpoints({ keepNewest: 1 }, {});
    expect(checkpoints.checkpoints).toBeGreaterThanOrEqual(1_000);
    expect(await missingBlobs(database.pool, thread.ref.threadId)).toBe(0);
    const after = await scene.service.state.getState(place);
    expect(after?.interrupts).toEqual(before?.interrupts);
    const options = Object(question.value).options;
    const answered = await scene.run(thread, {
      kind: "resume",
      answers: { [question.interrupt_id]: options[0] },
    });
    expect(answered.types().at(-1)).toBe("RUN_FINISHED");
    expect((await scene.service.state.getState(place))?.interrupts[0]?.interrupt_id).not.toBe(
      question.interrupt_id,
    );
  });
});

describe("Checkpoints", () => {
  it("of a thread with an open run are left alone, and pruned once it has ended", async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "1000");
    const thread = scene.thread("poet");
    const { threadId } = thread.ref;
    await scene.service.runs.start(startRequest(thread, "Write about the sea"));
    const watching = scene.watch(thread, { kind: "nothing" });
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    await addOldCheckpoints(database.pool, threadId, 100);
    const before = await countRows(database.pool, threadId);
    await store.pruneCheckpoints(RETENTION, {});
    expect((await countRows(database.pool, threadId)).checkpoints).toBeGreaterThanOrEqual(before.checkpoints);
    await scene.service.runs.stop(thread);
    await watching.ended;
    vi.unstubAllEnvs();
    await vi.waitFor(async () => {
      await store.pruneCheckpoints(RETENTION, {});
      expect((await countRows(database.pool, threadId)).checkpoints).toBe(RETENTION.keepNewest);
    });
  });

  it("are pruned by several instances at once, each row once", async () => {
    const threads = [scene.thread("poet"), scene.thread("poet"), scene.thread("poet")];
    for (const thread of threads) {
      await scene.run(thread, "Write about stars");
      await addOldCheckpoints(database.pool, thread.ref.threadId, 1_000);
    }
    const rounds = await Promise.all(Array.from({ length: 4 }, () => store.pruneCheckpoints(RETENTION, {})));
    const again = await store.pruneCheckpoints(RETENTION, {});
    const all = [...rounds, again].reduce((sum, { checkpoints }) => sum + checkpoints.checkpoints, 0);
    let left = 0;
    for (const { ref } of threads) {
      left += (await countRows(database.pool, ref.threadId)).checkpoints;
      expect(await missingBlobs(database.pool, ref.threadId)).toBe(0);
    }
    expect(left).toBe(threads.length * RETENTION.keepNewest);
    expect(all).toBeGreaterThanOrEqual(3 * 1_000 - left);
  });

  it("of a thread that can't be pruned do not keep the others from it", async () => {
    const [bad, good] = [scene.thread("poet"), scene.thread("poet")];
    for (const thread of [bad, good]) {
      await scene.run(thread, "Write about trees");
      await addOldCheckpoints(database.pool, thread.ref.threadId, 50);
    }
    await database.pool.query(
      `update langgraph.checkpoints set checkpoint = checkpoint || '{"channel_versions": 5}'
       where thread_id = $1 and checkpoint_id like '00000001-%'`,
      [bad.ref.threadId],
    );
    const failures: unknown[] = [];
    await store.pruneCheckpoints(RETENTION, { onFailure: (error) => void failures.push(error) });
    expect(failures).toHaveLength(1);
    expect((await countRows(database.pool, good.ref.threadId)).checkpoints).toBe(RETENTION.keepNewest);
  });
});

describe("A round and a start in the same thread", () => {
  it("wait for each other: the round passes a thread over that is being changed", async () => {
    const thread = scene.thread("poet");
    const { threadId } = thread.ref;
    await scene.run(thread, "Write about locks");
    await addOldCheckpoints(database.pool, threadId, 50);
    await inTransaction(database.pool, async (client) => {
      await client.query("select 1 from throughline.threads where thread_id = $1 for update", [threadId]);
      await store.pruneCheckpoints(RETENTION, {});
    });
    expect((await countRows(database.pool, threadId)).checkpoints).toBeGreaterThan(50);
    await store.pruneCheckpoints(RETENTION, {});
    expect((await countRows(database.pool, threadId)).checkpoints).toBe(RETENTION.keepNewest);
  });

  it("wait for each other: the start comes after the batch", async () => {
    const thread = scene.thread("poet");
    await scene.run(thread, "Write about doors");
    let isStarted = false;
    const starting = await inTransaction(database.pool, async (client) => {
      expect(await lockIdleThread(client, database.schema, thread.ref)).toBe(true);
      const started = scene.service.runs.start(startRequest(thread, "Write about keys")).then((outcome) => {
        isStarted = true;
        return outcome;
      });
      await expect
        .poll(async () => {
          const { rows } = await database.pool.query(
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%start_run%'",
          );
          return rows.length;
        })
        .toBe(1);
      expect(isStarted).toBe(false);
      return { started };
    });
    expect((await starting.started).kind).toBe("started");
    const watching = scene.watch(thread, { kind: "nothing" });
    expect((await watching.ended).reason).toBe("done");
  });
});

it("The row that a stop of an unknown run leaves is deleted once the stop has expired", async () => {
  const thread = scene.thread("poet");
  const rows = async () =>
    (
      await database.pool.query("select 1 from throughline.threads where thread_id = $1", [
        thread.ref.threadId,
      ])
    ).rowCount;
  await scene.service.registry.stop(thread.ref, { alias: "never sent" });
  expect(await rows()).toBe(1);
  await store.deleteUnstartedThreads(100);
  expect(await rows()).toBe(1);
  await database.pool.query(
    `update throughline.threads set created_at = created_at - interval '2 hours' where thread_id = $1`,
    [thread.ref.threadId],
  );
  await store.deleteUnstartedThreads(100);
  expect(await rows()).toBe(1);
  await database.pool.query(
    "update throughline.stops set expires_at = clock_timestamp() - interval '1 second'",
  );
  expect((await store.measure(undefined)).threads).toBe(1);
  expect(await store.deleteUnstartedThreads(100)).toBe(1);
  expect(await rows()).toBe(0);
  await scene.run(thread, "Write about late beginnings");
});

it("Checkpoints in memory are pruned by the same rules", async () => {
  const memory = createMemoryDatabase();
  const checkpointer = createMemoryCheckpointer();
  const small = await openServiceScene({
    store: { kind: "memory", shared: { database: memory, checkpointer } },
  });
  const thread = small.thread("poet");
  for (const about of ["rain", "snow", "hail"]) await small.run(thread, `Write about ${about}`);
  const place = { graphId: thread.graphId, threadId: thread.ref.threadId };
  const inMemory = createMemoryRetentionStore(memory, checkpointer);
  const all = (await small.service.state.history(place, { limit: 100 })).length;
  const planned = await inMemory.pruneCheckpoints({ keepNewest: 2 }, { isDryRun: true });
  expect((await small.service.state.history(place, { limit: 100 })).length).toBe(all);
  expect(await inMemory.pruneCheckpoints({ keepNewest: 2 }, {})).toEqual(planned);
  expect((await small.service.state.history(place, { limit: 100 })).length).toBe(2);
  await small.run(thread, "Write about sun");
  expect((await small.service.state.getState(place))?.messages).toHaveLength(8);
  await small.close();
});
