import { type Envelope, systemClock } from "@throughline/ai-core";
import { threadProjectionCodec } from "@throughline/reading";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createThreadLog,
  type RunRecord,
  type ThreadLog,
} from "@throughline/thread-log";
import { expect, it } from "vitest";
import { silentObserver } from "../operations/observer.js";
import { recordFrames } from "../testing/frame-recorder.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { ann } from "../testing/service-scene.js";
import { threadAddress } from "../threads/thread-address.js";
import type { SubscribeFrom } from "./stream-types.js";
import { createLiveThreads } from "./thread-followers.js";
import { createThreadStreams } from "./thread-streams.js";

const thread = threadAddress(ann, "scripted", "recovered");
const base = {
  ts: 1,
  trace_id: "t",
  run_id: "r",
  thread_id: thread.ref.threadId,
  parent_id: null,
  call_id: "r",
  origin: "live",
  agent: "langgraph:scripted",
} as const;

function began(attempt: number): Envelope {
  return {
    ...base,
    type: "run_start",
    attempt,
    seq: 1,
    payload: {
      graph_id: "langgraph:scripted",
      input: { messages: [] },
      answers: [],
      started_by: { kind: "client" },
    },
  };
}

function said(count: number, attempt: number): Envelope[] {
  return Array.from({ length: count }, (_, index) => ({
    ...base,
    type: "custom",
    attempt,
    seq: index + 2,
    payload: { name: "note", value: index },
  }));
}

const ended = (attempt: number): Envelope => ({
  ...base,
  type: "run_end",
  attempt,
  seq: 9,
  payload: { status: "success" },
});
const fence = { threadId: thread.ref.threadId, runId: "r", token: 1n };

async function openLog(): Promise<ThreadLog> {
  const log = createThreadLog({
    store: createMemoryLogStore(createMemoryDatabase()),
    fold: threadProjectionCodec,
  });
  await log.open(thread.ref, fence, { stateKey: thread.stateKey });
  return log;
}

/** `viewed`: the log as views follow it. */
function openHub(log: ThreadLog, { viewed = log, status }: { viewed?: ThreadLog; status?: "success" } = {}) {
  const observer = silentObserver;
  const views = createLiveThreads({ log: viewed, rebuilder: noRebuilder, clock: systemClock, observer });
  const hub = createThreadStreams({
    views,
    log,
    registry: {
      active: async () => undefined,
      find: async () => (status ? recordOf(status) : undefined),
      onStop: () => () => {},
    },
    executorType: "inproc",
    links: { linkTo: (base, { id }) => `${base}/${id}` },
    clock: systemClock,
    observer,
    reconcile: async () => false,
  });
  const subscribe = (from: SubscribeFrom, follow = false) => {
    const seen = recordFrames();
    hub.subscribe(thread, { face: { kind: "ag-ui", line: "0.0", interrupts: "legacy" }, from, follow }, seen);
    return seen;
  };
  const close = async () => {
    await hub.close();
    views.close();
    await log.close();
  };
  return { subscribe, close };
}

function recordOf(status: "success"): RunRecord {
  return {
    runId: "r",
    thread: thread.ref,
    alias: undefined,
    graphId: thread.graphId,
    origin: { kind: "client" },
    status,
    start: undefined,
    request: {},
    attempt: 0,
    crashes: 0,
    owner: undefined,
    token: 1n,
    leaseUntil: undefined,
    upstreamRunId: undefined,
    stopRequested: false,
    createdAt: 1,
    endedAt: 2,
  };
}

it("A subscriber of a run that was recovered is told it from its first beginning, however long ago that is", async () => {
  const log = await openLog();
  await log.append(thread.ref, [began(0), ...said(700, 0)], fence);
  await log.append(thread.ref, [began(1), ...said(5, 1), ended(1)], fence);
  const { subscribe, close } = openHub(log);
  const seen = subscribe({ kind: "run", runId: "r" });
  expect(await seen.ended).toEqual({ reason: "done", runOpen: false });
  expect(seen.types().filter((type) => type === "RUN_STARTED")).toHaveLength(1);
  expect(seen.types().at(0)).toBe("RUN_STARTED");
  expect(seen.types().filter((type) => type === "CUSTOM").length).toBeGreaterThanOrEqual(705);
  await close();
});

it("A subscriber of a run that ended elsewhere is told all of it by an instance that has not heard of it yet", async () => {
  const log = await openLog();
  let hearAll = () => {};
  const heard = new Promise<void>((resolve) => {
    hearAll = resolve;
  });
  const viewed: ThreadLog = {
    ...log,
    async *follow(...asked) {
      for await (const event of log.follow(...asked)) {
        if (event.kind !== "loaded") await heard;
        yield event;
      }
    },
  };
  const { subscribe, close } = openHub(log, { viewed, status: "success" });
  const viewer = subscribe({ kind: "nothing" }, true);
  await viewer.frame(({ data }) => data.type === "MESSAGES_SNAPSHOT");
  await log.append(thread.ref, [began(0), ...said(3, 0), ended(0)], fence);
  const seen = subscribe({ kind: "run", runId: "r" });
  await new Promise((resolve) => setImmediate(resolve));
  hearAll();
  expect(await seen.ended).toEqual({ reason: "done", runOpen: false });
  expect(seen.types()).toEqual(expect.arrayContaining(["RUN_STARTED", "RUN_FINISHED"]));
  await close();
});
