import { createSimulatedClock } from "@throughline/ai-core";
import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { threadProjectionCodec } from "@throughline/reading";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryRunRegistry,
  createThreadLog,
} from "@throughline/thread-log";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMemoryRetentionStore } from "../server/memory/memory-crons.js";
import { createMemoryDeletionStore } from "../server/memory/memory-deletions.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import type { Swept } from "./observer.js";
import { type Retention, startRetentionSweeper } from "./upkeep.js";

const HOUR_MS = 3_600_000;

describe("The sweeper", () => {
  function open(retention: Retention, breakOnce = false) {
    const clock = createSimulatedClock(1_000_000);
    const database = createMemoryDatabase(clock);
    const registry = createMemoryRunRegistry(database);
    const log = createThreadLog({
      store: createMemoryLogStore(database),
      clock,
      fold: threadProjectionCodec,
    });
    const rounds: Swept[] = [];
    const failures: string[] = [];
    let isBroken = breakOnce;
    const sweeper = startRetentionSweeper({
      log,
      registry: {
        pruneEnded(olderThanMs, limit) {
          if (!isBroken) return registry.pruneEnded(olderThanMs, limit);
          isBroken = false;
          return Promise.reject(new Error("the store is away"));
        },
      },
      store: createMemoryRetentionStore(database, createMemoryCheckpointer()),
      receipts: createMemoryDeletionStore(database),
      retention,
      clock,
      random: () => 0.5,
      observer: { swept: (dropped) => void rounds.push(dropped), failed: (why) => void failures.push(why) },
    });

    async function passRun(threadId: string): Promise<void> {
      const thread = { account: "acme", threadId };
      const started = await registry.start({
        owner: "here",
        leaseMs: HOUR_MS,
        thread,
        stateKey: "chat/main",
        runId: `run of ${threadId}`,
        graphId: "langgraph:chat",
        origin: { kind: "client" },
        start: { kind: "input", messages: [] },
        request: {},
        strategy: "reject",
        listing: { threadName: "main", derivedTitle: undefined },
      });
      if (started.kind !== "started") throw new Error(started.kind);
      await log.open(thread, started.fence);
      await log.append(
        thread,
        [
          {
            type: "custom",
            ts: 1,
            trace_id: "t",
            run_id: started.run.runId,
            thread_id: threadId,
            attempt: 0,
            parent_id: null,
            call_id: "c",
            seq: 1,
            origin: "live",
            agent: "a",
            payload: { name: "note", value: threadId },
          },
        ],
        started.fence,
      );
      await registry.finish(started.fence, { status: "success" });
    }
    return { clock, database, sweeper, rounds, failures, passRun };
  }

  it("lets go of entries and ended runs past their age, in rounds of its own, and of nothing younger", async () => {
    const { clock, database, sweeper, rounds, passRun } = open({ maxAgeMs: 10 * HOUR_MS });
    await passRun("old");
    clock.advance(8 * HOUR_MS);
    await passRun("young");
    await vi.waitUntil(() => rounds.length > 0);
    const dropped = () => ({
      entries: rounds.reduce((sum, { entries }) => sum + entries, 0),
      runs: rounds.reduce((sum, { runs }) => sum + runs, 0),
    });
    expect(dropped()).toEqual({ entries: 0, runs: 0 });
    // A round that begins before the age is reached may find one and not the other: the next one does.
    for (let hour = 0; hour < 5; hour += 1) {
      const before = rounds.length;
      clock.advance(HOUR_MS);
      await vi.waitUntil(() => rounds.length > before);
    }
    expect(dropped()).toEqual({ entries: 1, runs: 1 });
    expect([...database.runs.keys()]).toEqual(["run of young"]);
    await sweeper.close();
    expect(clock.pending()).toBe(0);
  });

  it("keeps everything without an age, but stops that nothing came for", async () => {
    const { clock, database, sweeper, passRun } = open({ maxEntries: 10 });
    await passRun("old");
    database.stops.set("somebody's", clock.now() + 1_000);
    clock.advance(10_000 * HOUR_MS);
    await sweeper.sweep();
    expect(database.runs.size).toBe(1);
    expect(database.stops.size).toBe(0);
    await sweeper.close();
  });

  it("deletes receipts of deletions and rows of threads in which nothing started, once they are old", async () => {
    const { clock, database, sweeper, rounds } = open({ receiptAgeMs: 24 * HOUR_MS });
    const receipts = createMemoryDeletionStore(database);
    const { id } = await receipts.begin({ scope: { account: "acme", subject: undefined }, askedBy: "acme" });
    const claimed = await receipts.claim(HOUR_MS);
    if (!claimed) throw new Error("It is due.");
    await receipts.move(claimed, "done", 0);
    await sweeper.sweep();
    expect(await receipts.find(id)).toBeDefined();
    clock.advance(25 * HOUR_MS);
    await sweeper.sweep();
    expect(await receipts.find(id)).toBeUndefined();
    expect(rounds.reduce((sum, { receipts: count }) => sum + count, 0)).toBe(1);
    await sweeper.close();
  });

  it("says what fails, and tries again in its next round", async () => {
    const { clock, sweeper, rounds, failures } = open({ maxAgeMs: HOUR_MS }, true);
    await sweeper.sweep();
    expect(failures).toEqual(["What is past its retention could not be swept; it is tried again."]);
    expect(rounds).toEqual([]);
    clock.advance(2 * HOUR_MS);
    await vi.waitUntil(() => rounds.length > 0);
    await sweeper.close();
  });
});

describe("A thread whose log was trimmed", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("R20: shows who comes with an old cursor, or with none, all that its checkpoint holds", async () => {
    let gaps = 0;
    scene = await openServiceScene({
      retention: { maxEntries: 12 },
      // Who comes back to a thread that is still in memory is told what the log no longer has.
      lingerMs: 0,
      observer: {
        gap() {
          gaps += 1;
        },
      },
    });
    const thread = scene.thread("poet");
    const first = await scene.run(thread, "Write about rain");
    const cursor = first.frames.find(({ id }) => id !== undefined && id !== "")?.id ?? "";
    await scene.run(thread, "Write about snow");
    await vi.waitFor(async () =>
      expect(await scene.service.log.read(thread.ref, undefined)).toMatchObject({ reason: "trimmed" }),
    );
    const back = scene.watch(thread, { kind: "cursor", cursor });
    expect((await back.ended).reason).toBe("done");
    expect(back.types().slice(0, 3)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    await expectCheckpoint(scene, thread, back.frames);
    expect(gaps).toBeGreaterThan(0);
    const visitor = scene.watch(thread, { kind: "nothing" });
    await visitor.ended;
    await expectCheckpoint(scene, thread, visitor.frames);
    const next = await scene.run(thread, "And hail?");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    expect(scene.failures).toEqual([]);
  });
});
