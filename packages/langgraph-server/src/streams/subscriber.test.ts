import { type Envelope, systemClock } from "@throughline/ai-core";
import { emptyThreadProjection, threadProjectionCodec } from "@throughline/reading";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createThreadLog,
  type ReadResult,
  type ThreadLog,
} from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentObserver } from "../operations/observer.js";
import { type FrameRecorder, recordFrames } from "../testing/frame-recorder.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { ann } from "../testing/service-scene.js";
import { threadAddress } from "../threads/thread-address.js";
import { createFrameEncoder } from "./frame-encoders.js";
import type { EncoderOptions, FrameSink } from "./stream-types.js";
import { createSubscriber } from "./subscriber.js";
import { openThreadBroadcast, type ThreadBroadcast } from "./thread-broadcast.js";
import { type LiveThread, openLiveThread } from "./thread-follower.js";

const thread = threadAddress(ann, "scripted", "long");
const fence = { threadId: thread.ref.threadId, runId: "r", token: 1n };

function said(count: number): Envelope[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "custom",
    ts: 1,
    trace_id: "t",
    run_id: "r",
    thread_id: thread.ref.threadId,
    attempt: 0,
    parent_id: null,
    call_id: "r",
    seq: index + 1,
    origin: "live",
    agent: "langgraph:scripted",
    payload: { name: "note", value: index },
  }));
}

/** Takes what it is given, and then nothing until it is let go on. */
function holdingReader(): { readonly sink: FrameSink; readonly seen: FrameRecorder; goOn(): void } {
  const seen = recordFrames();
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const sink = { ...seen, write: (frames: readonly Buffer[]) => !seen.write(frames), drained: () => gate };
  return { sink, seen, goOn: () => goOn() };
}

describe("A watcher who is caught up from the log", () => {
  let log: ThreadLog;
  let view: LiveThread;
  let channel: ThreadBroadcast;
  let gaps: number;
  const observer = {
    ...silentObserver,
    gap() {
      gaps += 1;
    },
  };

  beforeEach(async () => {
    gaps = 0;
    log = createThreadLog({
      store: createMemoryLogStore(createMemoryDatabase()),
      fold: threadProjectionCodec,
    });
    await log.open(thread.ref, fence, { stateKey: thread.stateKey });
    // More than a channel keeps at hand, and more than one page.
    await log.append(thread.ref, said(1_200), fence);
    view = openLiveThread({
      log,
      rebuilder: noRebuilder,
      clock: systemClock,
      thread,
      observer,
      onEnded() {},
    });
    channel = openThreadBroadcast(view);
    await view.ready();
  });
  afterEach(async () => {
    view.end("unused");
    await log.close();
  });

  function subscriberTo(sink: FrameSink, options: EncoderOptions, reading: Pick<ThreadLog, "read"> = log) {
    return createSubscriber({
      log: { ...log, read: reading.read },
      clock: systemClock,
      observer,
      thread,
      channel,
      face: createFrameEncoder(options, {
        threadName: thread.threadName,
        executorType: "inproc",
        linkTo: (base, id) => `${base}/${id}`,
      }),
      options: { face: options, from: { kind: "nothing" }, follow: true },
      sink,
    });
  }

  it("is told as replay what was there when it came, and as live what came while it was reading", async () => {
    const { sink, seen, goOn } = holdingReader();
    const subscriber = subscriberTo(sink, { kind: "envelopes" });
    const caughtUp = subscriber.catchUp({ fold: emptyThreadProjection, seq: 0 });
    await vi.waitUntil(() => seen.frames.length > 0);
    await log.append(thread.ref, said(30), fence);
    await vi.waitUntil(() => view.position()?.seq === 1_230);
    goOn();
    await caughtUp;
    await log.append(thread.ref, said(1), fence);
    await vi.waitUntil(() => seen.frames.length === 1_231);
    const origins = seen.frames.map(({ data }) => data.origin);
    expect(origins.slice(0, 1_200).every((origin) => origin === "replay")).toBe(true);
    expect(origins.slice(1_200)).toEqual(Array.from({ length: 31 }, () => "live"));
    subscriber.leave();
  });

  it("is told once what the log has before its instance follows it that far", async () => {
    const seen = recordFrames();
    const [next] = said(1);
    const read: ThreadLog["read"] = async (...asked) => {
      const page = await log.read(...asked);
      const last = page.kind === "entries" ? page.entries.at(-1) : undefined;
      if (page.kind !== "entries" || last?.seq !== 1_200 || !next) return page;
      // Another instance has committed one more, which this one has not heard of.
      return { ...page, entries: [...page.entries, { ...last, seq: 1_201, envelope: next }] };
    };
    const subscriber = subscriberTo(seen, { kind: "envelopes" }, { read });
    await subscriber.catchUp({ fold: emptyThreadProjection, seq: 0 });
    await log.append(thread.ref, said(2), fence);
    await vi.waitUntil(() => seen.frames.at(-1)?.id?.includes(".1202."));
    expect(seen.frames).toHaveLength(1_202);
    subscriber.leave();
  });

  it("is let go, to come back, when the log gives it nothing where there should be more", async () => {
    const seen = recordFrames();
    let reads = 0;
    const read = async (): Promise<ReadResult> => {
      reads += 1;
      return { kind: "entries", entries: [], head: view.position() };
    };
    await subscriberTo(seen, { kind: "envelopes" }, { read }).catchUp({
      fold: emptyThreadProjection,
      seq: 0,
    });
    expect(await seen.ended).toEqual({ reason: "failed", runOpen: false });
    expect([reads, gaps]).toEqual([1, 1]);
  });

  it("gets the full prelude when what it was to read next was trimmed meanwhile, and goes on live", async () => {
    const { sink, seen, goOn } = holdingReader();
    const subscriber = subscriberTo(sink, { kind: "ag-ui", line: "0.0", interrupts: "legacy" });
    const caughtUp = subscriber.catchUp({ fold: emptyThreadProjection, seq: 0 });
    await vi.waitUntil(() => seen.frames.length > 0);
    await log.trim(thread.ref, { maxEntries: 1 });
    const before = seen.frames.length;
    goOn();
    await caughtUp;
    expect(seen.types().slice(before, before + 3)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
    ]);
    expect(gaps).toBe(1);
    await log.append(thread.ref, said(1), fence);
    await vi.waitUntil(() =>
      seen
        .types()
        .slice(before + 4)
        .includes("CUSTOM"),
    );
    subscriber.leave();
  });
});

it("who asks for AiEvents of a run that is no longer kept is told so, and not just left", () => {
  const face = createFrameEncoder(
    { kind: "ai-events" },
    { threadName: "long", executorType: "inproc", linkTo: (base, id) => `${base}/${id}` },
  );
  const data = face.prelude(emptyThreadProjection, undefined)?.map((frame) => JSON.parse(frame.data));
  expect(data).toMatchObject([{ type: "error", ok: false, code: "gap" }]);
  const open = { run_id: "r", client_run_id: null, attempt: 0, open: true, status: null };
  expect(face.prelude({ ...emptyThreadProjection, run: open }, undefined)).toEqual([]);
});
