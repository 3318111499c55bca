import type { Envelope, Json } from "@throughline/ai-core";
import { isJsonObject } from "@throughline/coerce";
import { describe, expect, it } from "vitest";
import type { AgUiEvent } from "./faces/ag-ui/event.js";
import { type AgUiFaceOptions, createAgUiFace } from "./faces/ag-ui/face.js";
import { snapshotMessages } from "./faces/ag-ui/messages.js";
import { changeCalls, type FoldCall } from "./fold/calls.js";
import { applyEntry, applyEnvelope } from "./fold/fold.js";
import { emptyFold, type ThreadFold } from "./fold/thread-fold.js";
import { agUi, call, drive, piece } from "./testing/drive.js";
import { foldBefore, framesOf, loadRecording, RECORDING_NAMES, replay } from "./testing/recording.js";
import { assertValidEvents } from "./testing/stock-client.js";

const options: AgUiFaceOptions = { threadName: "plan", line: "1.0", interrupts: "standard", calls: true };

interface WireCall {
  readonly runId: string;
  readonly callId: string;
}

/** What a client knows of the calls: each event whole, or one call at a time. */
function knownCalls(events: readonly AgUiEvent[]): readonly WireCall[] {
  const known = new Map<string, WireCall>();
  for (const event of events) {
    if (event.type !== "CUSTOM" || event.name !== "throughline.calls") continue;
    const { whole, calls } = told(event.value);
    if (whole) known.clear();
    for (const one of calls) known.set(`${one.runId} ${one.callId}`, one);
  }
  return [...known.values()];
}

function told(value: Json): { readonly whole: boolean; readonly calls: readonly WireCall[] } {
  return value as unknown as ReturnType<typeof told>;
}

describe.each(RECORDING_NAMES)("%s", (name) => {
  const recording = loadRecording(name);
  const before = foldBefore(recording);
  const entries = replay(recording, { dialect: "modes" });

  it("leaves every call ended, under a call that is there", () => {
    const fold = entries.reduce(applyEntry, before);
    const ids = new Set(fold.calls.map((one) => one.call_id));
    expect(fold.calls.length).toBeGreaterThan(0);
    for (const one of fold.calls) {
      expect(one.status).not.toBe("running");
      expect(one.ended_at).toBeGreaterThanOrEqual(one.started_at);
      if (one.kind === "run") expect(one.parent_id).toBeNull();
      else expect(ids).toContain(one.parent_id);
    }
  });

  it("tells calls beside a stream that stock clients still take", async () => {
    for (const line of ["0.0", "1.0"] as const) {
      const frames = framesOf(entries, { ...options, line }, before);
      await assertValidEvents(
        line,
        frames.map((frame) => frame.event),
      );
    }
  });

  it("shows a watcher who joins at any entry the calls that one saw who watched it all", () => {
    const face = createAgUiFace(options);
    const all = knownCalls([
      ...face.fullPrelude(before, undefined).map((frame) => frame.event),
      ...framesOf(entries, options, before).map((frame) => frame.event),
    ]);
    let fold = before;
    for (const [index, entry] of entries.entries()) {
      const joined = [
        ...face.fullPrelude(fold, undefined).map((frame) => frame.event),
        ...framesOf(entries.slice(index), options, fold).map((frame) => frame.event),
      ];
      expect(knownCalls(joined)).toEqual(all);
      fold = applyEntry(fold, entry);
    }
  });
});

/** What a full prelude says of each message's run. */
function toldRuns(fold: ThreadFold, face: AgUiFaceOptions): Readonly<Record<string, unknown>> {
  const runs: Record<string, unknown> = {};
  for (const { event } of createAgUiFace(face).fullPrelude(fold, undefined)) {
    if (event.type !== "MESSAGES_SNAPSHOT") continue;
    for (const { id, metadata } of event.messages) {
      const facts = isJsonObject(metadata) ? metadata.throughline : undefined;
      if (isJsonObject(facts)) runs[String(id)] = facts.runId;
    }
  }
  return runs;
}

const tool = (event: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  ns: ["tools:t1"],
  mode: "tools" as const,
  data: { event, toolCallId: "c1", name: "search", ...fields },
});

describe("calls", () => {
  it("are not told to who did not ask", () => {
    const events = agUi(drive([piece({ content: "Hi" })]));
    expect(knownCalls(events)).toEqual([]);
  });

  it("P62: come with the run that brought each message, for whoever joins", () => {
    const first = drive([piece({ content: "Hi", additional_kwargs: { reasoning_content: "Hm" } })]);
    const shown = first.reduce(applyEnvelope, emptyFold);
    const seen = [{ id: "m1", role: "assistant" as const, content: "Hi" }];
    const missed = { id: "m2", role: "user" as const, content: "Unseen" };
    const again = drive([piece({ id: "m3", content: "Yes" })], {
      runId: "run-2",
      fold: shown,
      final: { messages: [...seen, missed, { id: "m3", role: "assistant", content: "Yes" }] },
    });
    const fold = again.reduce(applyEnvelope, shown);
    expect(toldRuns(fold, options)).toEqual({
      "m1/reasoning": "run-1",
      m1: "run-1",
      m2: "run-2",
      m3: "run-2",
    });
    expect(toldRuns(fold, { ...options, calls: false })).toEqual({});
  });

  it("P62: say no run of what passed unwatched, and beside a failure the run it was in", () => {
    const result = { id: "t1", role: "tool", tool_call_id: "c1", content: "no", status: "error" } as const;
    const passed = drive([], { final: { messages: [result] } }).map(
      (envelope): Envelope =>
        envelope.type === "run_start"
          ? { ...envelope, payload: { ...envelope.payload, coarse: true } }
          : envelope,
    );
    expect(toldRuns(passed.reduce(applyEnvelope, emptyFold), options)).toEqual({});
    const watched = drive([], { final: { messages: [result] } }).reduce(applyEnvelope, emptyFold);
    const [told] = snapshotMessages(watched, { line: "1.0", calls: true });
    expect(told?.metadata).toEqual({ throughline: { status: "error", runId: "run-1" } });
  });

  it("hold what a tool was given, what it said of its progress and what it gave", () => {
    const envelopes = drive([
      call(0, { id: "c1", name: "search", args: "{}" }),
      tool("on_tool_start", { input: { q: "rain" } }),
      tool("on_tool_event", { data: { done: 1 } }),
      tool("on_tool_end", { output: "wet" }),
    ]);
    const search = knownCalls(agUi(envelopes, { calls: true })).find((one) => one.callId === "c1");
    expect(search).toMatchObject({
      kind: "tool",
      name: "search",
      status: "ok",
      args: { q: "rain" },
      progress: { done: 1 },
      result: "wet",
    });
  });

  it("that a dead process left open are lost, and those of the next attempt are told anew", () => {
    const whole = drive([piece({ content: "Hi" })]);
    const cut = whole.slice(
      0,
      whole.findIndex((one) => one.type === "llm_end"),
    );
    const again = whole.map((one) => ({ ...one, attempt: 1 }));
    const lost = changeCalls(
      cut.reduce<readonly FoldCall[]>((calls, one) => changeCalls(calls, one)?.calls ?? calls, []),
      again[0] ?? raise(),
    );
    expect(lost?.changed.map(({ kind, status }) => [kind, status])).toEqual([
      ["node", "lost"],
      ["model", "lost"],
      ["run", "running"],
    ]);
    const calls = knownCalls(agUi([...cut, ...again], { calls: true }));
    expect(calls).toMatchObject([
      { kind: "run", attempt: 1, status: "ok" },
      { kind: "node", attempt: 1, status: "ok" },
      { kind: "model", attempt: 1, status: "ok" },
    ]);
  });

  it("are forgotten oldest first, so that a long thread opens as fast as a short one", () => {
    const [start] = drive([]);
    const calls = Array.from({ length: 500 }).reduce<readonly FoldCall[]>((kept, _, index) => {
      const envelope = { ...(start ?? raise()), run_id: `run-${index}`, call_id: `run-${index}` };
      return changeCalls(kept, envelope)?.calls ?? kept;
    }, []);
    expect(calls).toHaveLength(200);
    expect(calls[0]?.run_id).toBe("run-300");
  });

  it("carry long values cut short", () => {
    const envelopes = drive([tool("on_tool_start", { input: { text: "a".repeat(10_000) } })]);
    const search = knownCalls(agUi(envelopes, { calls: true })).find((one) => one.callId === "c1");
    expect(JSON.stringify(search).length).toBeLessThan(3_000);
    expect(search).toMatchObject({ args: expect.stringMatching(/^\{"text":"a+…$/) });
  });
});

function raise(): never {
  throw new Error("the run has no start");
}
