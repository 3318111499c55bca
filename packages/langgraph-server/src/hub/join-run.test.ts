import { type Envelope, systemClock } from "@throughline/ai-core";
import { threadFoldPort } from "@throughline/stream-adapter";
import { createMemoryDatabase, createMemoryLogStore, createThreadLog } from "@throughline/thread-log";
import { expect, it } from "vitest";
import { recordFrames } from "../testing/frame-recorder.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { ann } from "../testing/service-scene.js";
import { silentObserver } from "../thread/service-observer.js";
import { threadAddress } from "../thread/thread-address.js";
import { createThreadViews } from "../thread/thread-views.js";
import { createThreadHub } from "./create-thread-hub.js";

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

it("A subscriber of a run that was recovered is told it from its first beginning, however long ago that is", async () => {
  const log = createThreadLog({ store: createMemoryLogStore(createMemoryDatabase()), fold: threadFoldPort });
  const fence = { threadId: thread.ref.threadId, runId: "r", token: 1n };
  await log.open(thread.ref, fence, { stateKey: thread.stateKey });
  await log.append(thread.ref, [began(0), ...said(700, 0)], fence);
  const end: Envelope = { ...base, type: "run_end", attempt: 1, seq: 9, payload: { status: "success" } };
  await log.append(thread.ref, [began(1), ...said(5, 1), end], fence);
  const observer = silentObserver;
  const views = createThreadViews({ log, rebuilder: noRebuilder, clock: systemClock, observer });
  const hub = createThreadHub({
    views,
    log,
    registry: { active: async () => undefined, find: async () => undefined, onStop: () => () => {} },
    executorType: "inproc",
    clock: systemClock,
    observer,
    reconcile: async () => false,
  });
  const seen = recordFrames();
  hub.subscribe(
    thread,
    {
      face: { kind: "ag-ui", line: "0.0", interrupts: "legacy" },
      from: { kind: "run", runId: "r" },
      follow: false,
    },
    seen,
  );
  expect(await seen.ended).toEqual({ reason: "done", runOpen: false });
  expect(seen.types().filter((type) => type === "RUN_STARTED")).toHaveLength(1);
  expect(seen.types().at(0)).toBe("RUN_STARTED");
  expect(seen.types().filter((type) => type === "CUSTOM").length).toBeGreaterThanOrEqual(705);
  await hub.close();
  views.close();
  await log.close();
});
