import { createSimulatedClock, type Envelope, StoreOutage } from "@throughline/ai-core";
import { type ThreadProjection, threadProjectionCodec } from "@throughline/reading";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createThreadLog,
  type ThreadLog,
} from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentObserver } from "../operations/observer.js";
import { recordFrames } from "../testing/frame-recorder.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { ann } from "../testing/service-scene.js";
import { threadAddress } from "../threads/thread-address.js";
import type { ThreadStreams } from "./stream-types.js";
import { createLiveThreads, type LiveThreads } from "./thread-followers.js";
import { createThreadStreams } from "./thread-streams.js";

const thread = threadAddress(ann, "scripted", "resting");
const fence = { threadId: thread.ref.threadId, runId: "r", token: 1n };
const FACE = { kind: "ag-ui", line: "1.0", interrupts: "standard", calls: false } as const;
/** The view of an idle thread lets go of its fold after this time. */
const REST_MS = 10_000;
const SAID = { id: "said", role: "user", content: "Hello" } as const;

function envelopes(): Envelope[] {
  const base = {
    ts: 1,
    trace_id: "t",
    run_id: "r",
    thread_id: thread.ref.threadId,
    attempt: 0,
    parent_id: null,
    call_id: "r",
    seq: 1,
    origin: "live",
    agent: "langgraph:scripted",
  } as const;
  return [
    {
      ...base,
      type: "run_start",
      payload: {
        graph_id: "langgraph:scripted",
        input: { messages: [SAID] },
        answers: [],
        started_by: { kind: "client" },
      },
    },
    { ...base, type: "run_end", payload: { status: "success" } },
  ];
}

describe("While the database takes longer to answer than an idle view keeps its fold", () => {
  let clock: ReturnType<typeof createSimulatedClock>;
  let log: ThreadLog;
  let views: LiveThreads;

  beforeEach(async () => {
    clock = createSimulatedClock(1_000);
    log = createThreadLog({
      store: createMemoryLogStore(createMemoryDatabase()),
      clock,
      fold: threadProjectionCodec,
    });
    views = createLiveThreads({ log, rebuilder: noRebuilder, clock, observer: silentObserver });
    await log.open(thread.ref, fence, { stateKey: thread.stateKey });
    await log.append(thread.ref, envelopes(), fence);
  });
  afterEach(async () => {
    views.close();
    await log.close();
  });

  function openHub(
    slow: {
      readonly read?: ThreadLog["read"];
      readonly reconcile?: (fold: ThreadProjection) => Promise<boolean>;
    } = {},
  ): ThreadStreams {
    return createThreadStreams({
      views,
      log: { ...log, ...(slow.read && { read: slow.read }) },
      registry: { active: async () => undefined, find: async () => undefined, onStop: () => () => {} },
      executorType: "inproc",
      links: { linkTo: (base) => base },
      clock,
      observer: silentObserver,
      reconcile: (_, fold) => slow.reconcile?.(fold) ?? Promise.resolve(false),
    });
  }

  it("a subscriber whose cursor is of another epoch is shown the whole thread", async () => {
    const hub = openHub({
      read(...asked) {
        clock.advance(REST_MS);
        return log.read(...asked);
      },
    });
    const seen = recordFrames();
    const from = { kind: "cursor", cursor: "another-epoch.2.0.ag" } as const;
    const subscription = hub.subscribe(thread, { face: FACE, from, follow: true }, seen);
    const { data } = await seen.frame(({ data: { type } }) => type === "MESSAGES_SNAPSHOT");
    expect(data.messages).toMatchObject([SAID]);
    subscription.leave();
  });

  it("a reading of the thread has its messages", async () => {
    const hub = openHub({
      async reconcile() {
        clock.advance(REST_MS);
        return false;
      },
    });
    const { fold } = await hub.read(thread, undefined);
    expect(fold.messages).toMatchObject([SAID]);
  });

  it("the thread is compared with its checkpoint as a whole, also the second time", async () => {
    const compared: number[] = [];
    const hub = openHub({
      async reconcile({ messages }) {
        compared.push(messages.length);
        clock.advance(REST_MS);
        if (compared.length === 1) throw new StoreOutage(new Error("away"));
        return false;
      },
    });
    const seen = recordFrames();
    const subscription = hub.subscribe(thread, { face: FACE, from: { kind: "nothing" }, follow: true }, seen);
    await vi.waitUntil(() => {
      clock.advance(1_000);
      return compared.length > 1;
    });
    expect(compared).toEqual([1, 1]);
    subscription.leave();
  });
});
