import { type BaseCheckpointSaver, emptyCheckpoint, MemorySaver } from "@langchain/langgraph-checkpoint";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { type LeasePort, systemClock, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { heldQuery, neverAsked, putRun, setUpRuns } from "../persistence/held-runs-fixture.js";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { surviveBrokenConnections } from "../store-pool.js";
import { FencedPostgresSaver } from "./fenced-postgres-saver.js";
import { fencedSaver, RunSaver, type RunSaverOptions } from "./run-saver.js";

const fence = { threadId: "thread-1", runId: "run-1", token: 3n };
const held: LeasePort = { assertHeld: async () => {} };
const lost: LeasePort = {
  async assertHeld() {
    throw new ThroughlineError("conflict", "Another instance holds this thread.");
  },
};

function runSaver(
  inner: BaseCheckpointSaver,
  onWriteFailed: RunSaverOptions["onWriteFailed"] = () => {},
): RunSaver {
  const { signal } = new AbortController();
  return new RunSaver(inner, { runId: "run-1", clock: systemClock, signal, onWriteFailed });
}

// The suite is written for runners whose words are global. It skips one case for savers called MemorySaver, which keep
// more of a checkpoint than that case allows; here it is left out, because what is skipped looks like something to do.
const itOrNothing = new Proxy(it, {
  get: (target, key) => (key === "skip" ? () => {} : Reflect.get(target, key)),
});
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it: itOrNothing });

validate({
  checkpointerName: "MemorySaver",
  createCheckpointer: () => fencedSaver(new MemorySaver(), held, fence),
});

let postgres: PostgresFixture | undefined;
const opened = new Map<BaseCheckpointSaver, FencedPostgresSaver>();
let schemas = 0;

validate({
  checkpointerName: "a fenced FencedPostgresSaver",
  beforeAllTimeout: 60_000,
  async beforeAll() {
    postgres = await startPostgresFixture();
  },
  async createCheckpointer() {
    schemas += 1;
    const pool = surviveBrokenConnections(new pg.Pool({ connectionString: postgres?.url }));
    const saver = new FencedPostgresSaver(pool, `validation_${schemas}`);
    await saver.setup();
    await setUpRuns(pool);
    await putRun(pool, fence);
    const fenced = fencedSaver(saver, { ...neverAsked, heldQuery }, fence);
    opened.set(fenced, saver);
    return fenced;
  },
  async destroyCheckpointer(saver) {
    await opened.get(saver)?.end();
  },
  afterAll: async () => postgres?.stop(),
});

describe("A saver whose lease is lost", () => {
  const config = { configurable: { thread_id: "thread-1", checkpoint_ns: "" } };
  const metadata = { source: "loop", step: 0, parents: {} } as const;

  it("refuses every write and still reads", async () => {
    const inner = new MemorySaver();
    const stored = await inner.put(config, emptyCheckpoint(), metadata);
    const saver = fencedSaver(inner, lost, fence);
    await expect(saver.put(config, emptyCheckpoint(), metadata, {})).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(saver.putWrites(stored, [["log", 1]], "task")).rejects.toMatchObject({ code: "conflict" });
    await expect(saver.deleteThread("thread-1")).rejects.toMatchObject({ code: "conflict" });
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([]);
  });
});

describe("The saver of a run", () => {
  const config = { configurable: { thread_id: "thread-1", checkpoint_ns: "" } };
  const metadata = { source: "loop", step: 0, parents: {} } as const;

  it("writes down which run a checkpoint is of", async () => {
    const saver = runSaver(fencedSaver(new MemorySaver(), held, fence));
    await saver.put(config, emptyCheckpoint(), metadata, {});
    expect((await saver.getTuple(config))?.metadata).toMatchObject({ throughline_run: "run-1", step: 0 });
  });

  it("tells of the first write that failed, and lets no later one through", async () => {
    const failures: unknown[] = [];
    const inner = new MemorySaver();
    let isHeld = false;
    const flapping: LeasePort = {
      async assertHeld() {
        if (!isHeld) throw new ThroughlineError("conflict", "lost");
      },
    };
    const saver = runSaver(fencedSaver(inner, flapping, fence), (error) => failures.push(error));
    const checkpoint = emptyCheckpoint();
    const answer = await saver.put(config, checkpoint, metadata, {});
    isHeld = true;
    await saver.putWrites(answer, [["log", 1]], "task");
    expect(answer.configurable?.checkpoint_id).toBe(checkpoint.id);
    expect(failures).toMatchObject([{ code: "conflict" }]);
    expect(await inner.getTuple(config)).toBeUndefined();
  });

  it("writes nothing once its run is over", async () => {
    const inner = new MemorySaver();
    const saver = runSaver(inner);
    await saver.close();
    await saver.put(config, emptyCheckpoint(), metadata, {});
    expect(await inner.getTuple(config)).toBeUndefined();
  });

  it("is closed when what it was writing is written", async () => {
    const inner = new MemorySaver();
    let letGo = () => {};
    const slow: LeasePort = {
      assertHeld: () =>
        new Promise((resolve) => {
          letGo = resolve;
        }),
    };
    const saver = runSaver(fencedSaver(inner, slow, fence));
    void saver.put(config, emptyCheckpoint(), metadata, {});
    const closed = saver.close();
    letGo();
    await closed;
    expect(await inner.getTuple(config)).toBeDefined();
  });
});
