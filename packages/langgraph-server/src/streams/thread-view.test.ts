import { createSimulatedClock, type Envelope, StoreOutage } from "@throughline/ai-core";
import { threadProjectionCodec } from "@throughline/reading";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createThreadLog,
  type LogStore,
  type ThreadLog,
} from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentObserver } from "../operations/observer.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { ann } from "../testing/service-scene.js";
import { threadAddress } from "../threads/thread-address.js";
import { createLiveThreads, type LiveThreads } from "./thread-followers.js";

const thread = threadAddress(ann, "scripted", "viewed");
const fence = { threadId: thread.ref.threadId, runId: "r", token: 1n };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function envelope(type: "run_start" | "run_end", runId: string): Envelope {
  const base = {
    ts: 1,
    trace_id: "t",
    run_id: runId,
    thread_id: thread.ref.threadId,
    attempt: 0,
    parent_id: null,
    call_id: runId,
    seq: 1,
    origin: "live",
    agent: "langgraph:scripted",
  } as const;
  if (type === "run_end") return { ...base, type, payload: { status: "success" } };
  const said = { id: `said in ${runId}`, role: "user" as const, content: "Hello" };
  return {
    ...base,
    type,
    payload: {
      graph_id: "langgraph:scripted",
      input: { messages: [said] },
      answers: [],
      started_by: { kind: "client" },
    },
  };
}

describe("A thread's view", () => {
  let clock: ReturnType<typeof createSimulatedClock>;
  let store: LogStore;
  let log: ThreadLog;
  let views: LiveThreads;
  beforeEach(async () => {
    clock = createSimulatedClock(1_000);
    store = createMemoryLogStore(createMemoryDatabase());
    log = createThreadLog({ store, clock, fold: threadProjectionCodec });
    views = createLiveThreads({
      log,
      rebuilder: noRebuilder,
      clock,
      observer: silentObserver,
      lingerMs: 60_000,
    });
    await log.open(thread.ref, fence, { stateKey: thread.stateKey });
    await log.append(thread.ref, [envelope("run_start", "one"), envelope("run_end", "one")], fence);
  });
  afterEach(async () => {
    views.close();
    await log.close();
  });

  it("is one for all who take it, and is loaded once", async () => {
    const load = vi.spyOn(log, "follow");
    const first = views.acquire(thread);
    const second = views.acquire(thread);
    await Promise.all([first.view.ready(), second.view.ready()]);
    expect(second.view).toBe(first.view);
    expect([first.wasOpen, second.wasOpen]).toEqual([false, true]);
    expect(load).toHaveBeenCalledTimes(1);
    expect(first.view.fold().messages.map(({ id }) => id)).toEqual(["said in one"]);
  });

  it("lets go of the fold of an idle thread, and has it again for who asks and for what comes", async () => {
    const { view } = views.acquire(thread);
    await view.ready();
    const messages = () => view.fold().messages.map(({ id }) => id);
    clock.advance(10_000);
    expect(messages()).toEqual([]);
    expect(view.fold().run?.open).toBe(false);
    await view.ready();
    expect(messages()).toEqual(["said in one"]);
    clock.advance(10_000);
    const told: (readonly string[])[] = [];
    view.listen({ entry: (before) => void told.push(before.messages.map(({ id }) => id)) });
    await log.append(thread.ref, [envelope("run_start", "two")], fence);
    await vi.waitUntil(() => told.length === 1);
    expect(told).toEqual([["said in one"]]);
    expect(messages()).toEqual(["said in one", "said in two"]);
    clock.advance(60_000);
    expect(messages()).toEqual(["said in one", "said in two"]);
  });

  it("P65: waits for a store that is away, and goes on where it was", async () => {
    let isAway = true;
    const read = store.read.bind(store);
    vi.spyOn(store, "read").mockImplementation((...asked) =>
      isAway ? Promise.reject(new StoreOutage("away")) : read(...asked),
    );
    const { view } = views.acquire(thread);
    let isReady = false;
    void view.ready().then(() => {
      isReady = true;
    });
    for (let seconds = 0; seconds < 120; seconds += 1) {
      clock.advance(1_000);
      await turn();
    }
    expect(isReady).toBe(false);
    expect(view.endedWith()).toBeUndefined();
    isAway = false;
    clock.advance(1_000);
    await view.ready();
    expect(view.fold().messages).toHaveLength(1);
  });

  it("ends when its thread is deleted, and makes room for another one", async () => {
    const { view } = views.acquire(thread);
    await view.ready();
    await log.deleteThread(thread.ref);
    await vi.waitUntil(() => view.endedWith() === "deleted");
    const again = views.acquire(thread);
    await again.view.ready();
    expect(again.view).not.toBe(view);
    expect(again.view.fold().messages).toEqual([]);
  });
});
