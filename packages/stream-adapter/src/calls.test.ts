import type { Envelope, Json } from "@throughline/ai-core";
import { isJsonObject } from "@throughline/coerce";
import type { AgUiEvent } from "@throughline/reading";
import {
  type AgUiEncoderOptions,
  applyEntry,
  applyEnvelope,
  type CallTree,
  callsByRun,
  createAgUiEncoder,
  emptyThreadProjection,
  snapshotMessages,
  type ThreadProjection,
  updateCallTree,
} from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agUi, call, drive, piece } from "./testing/drive.js";
import {
  foldBefore,
  framesOf,
  loadRecording,
  RECORDING_NAMES,
  replay,
  toEntries,
} from "./testing/recording.js";
import { assertValidEvents } from "./testing/stock-client.js";

const options: AgUiEncoderOptions = { threadName: "plan", line: "1.0", interrupts: "standard", calls: true };

interface WireCall {
  readonly runId: string;
  readonly callId: string;
  readonly parentId: string | null;
}

interface ToldCalls {
  readonly whole: boolean;
  readonly calls: readonly WireCall[];
  readonly gone?: readonly Pick<WireCall, "runId" | "callId">[];
}

/** What a client knows of the calls: each event whole, or one call at a time. */
function knownCalls(events: readonly AgUiEvent[]): readonly WireCall[] {
  const known = new Map<string, WireCall>();
  for (const event of events) {
    if (event.type !== "CUSTOM" || event.name !== "throughline.calls") continue;
    const { whole, calls, gone = [] } = told(event.value);
    if (whole) known.clear();
    const lost = new Set(gone.map(({ runId, callId }) => `${runId} ${callId}`));
    for (const [key, { runId, parentId }] of known) {
      if (lost.has(`${runId} ${parentId}`)) lost.add(key);
      if (lost.has(key)) known.delete(key);
    }
    for (const one of calls) known.set(`${one.runId} ${one.callId}`, one);
  }
  return [...known.values()];
}

function told(value: Json): ToldCalls {
  return value as unknown as ToldCalls;
}

describe.each(RECORDING_NAMES)("%s", (name) => {
  const recording = loadRecording(name);
  const before = foldBefore(recording);
  const entries = replay(recording, { dialect: "modes" });

  it("leaves every call ended, under a call that is there", () => {
    const fold = entries.reduce(applyEntry, before);
    const calls = callsByRun(fold);
    const ids = new Set(calls.map((one) => one.call_id));
    expect(calls.length).toBeGreaterThan(0);
    for (const one of calls) {
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
    const face = createAgUiEncoder(options);
    const all = knownCalls([
      ...face.fullSnapshot(before, undefined).map((frame) => frame.event),
      ...framesOf(entries, options, before).map((frame) => frame.event),
    ]);
    let fold = before;
    for (const [index, entry] of entries.entries()) {
      const joined = [
        ...face.fullSnapshot(fold, undefined).map((frame) => frame.event),
        ...framesOf(entries.slice(index), options, fold).map((frame) => frame.event),
      ];
      expect(knownCalls(joined)).toEqual(all);
      fold = applyEntry(fold, entry);
    }
  });
});

/** What a full prelude says of each message's run. */
function toldRuns(fold: ThreadProjection, face: AgUiEncoderOptions): Readonly<Record<string, unknown>> {
  const runs: Record<string, unknown> = {};
  for (const { event } of createAgUiEncoder(face).fullSnapshot(fold, undefined)) {
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
    const shown = first.reduce(applyEnvelope, emptyThreadProjection);
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
    expect(toldRuns(passed.reduce(applyEnvelope, emptyThreadProjection), options)).toEqual({});
    const watched = drive([], { final: { messages: [result] } }).reduce(applyEnvelope, emptyThreadProjection);
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
    const lost = updateCallTree(
      cut.reduce<CallTree>((known, one) => updateCallTree(known, one) ?? known, NO_CALLS),
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

  it("of runs all stay, and each says who started it, however many there were", () => {
    const starts = Array.from({ length: 500 }, (_, index) => runStart(`run-${index}`));
    const { runs } = workOf(starts);
    expect(runs).toHaveLength(500);
    expect(runs[0]).toMatchObject({ run_id: "run-0", started_by: { kind: "client" } });
  });

  it("within a run are let go oldest first, whole, and counted where they hung", () => {
    const known = workOf([runStart("run-1"), ...steps(1_000, "run-1")]);
    expect(known.calls.length).toBeLessThanOrEqual(200);
    const [run] = known.runs;
    expect(run).toMatchObject({ status: "running", earlier: 2_000 - known.calls.length });
    const ids = new Set(known.calls.map(({ call_id }) => call_id));
    for (const { call_id, parent_id } of known.calls)
      if (parent_id !== "run-1") expect([call_id, ids.has(parent_id ?? "")]).toEqual([call_id, true]);
    expect(ids.has("step-999")).toBe(true);
  });

  it("that are open stay with all above them, and what is let go below them is counted by them", () => {
    const known = workOf([
      runStart("run-1"),
      step("step_start", "outer", "run-1"),
      step("step_start", "inner", "outer"),
      ...steps(500, "inner"),
    ]);
    const byId = new Map(known.calls.map((one) => [one.call_id, one]));
    expect(byId.get("outer")).toMatchObject({ status: "running" });
    expect(byId.get("inner")).toMatchObject({ earlier: 1_000 - (known.calls.length - 2) });
    const ended = workOf(
      [
        step("step_end", "inner", "outer"),
        step("step_end", "outer", "run-1"),
        ...steps(500, "run-1", "later"),
      ],
      known,
    );
    expect(ended.calls.some(({ call_id }) => call_id === "outer")).toBe(false);
    expect(ended.runs[0]?.earlier).toBe(2_002 - ended.calls.length);
  });

  it("that are many and all open stay, and go once they have closed", () => {
    const open = Array.from({ length: 1_000 }, (_, index) => step("step_start", `wide-${index}`, "run-1"));
    const wide = workOf([runStart("run-1"), ...open]);
    expect(wide.calls).toHaveLength(1_000);
    const closed = open.map(({ call_id }) => step("step_end", call_id, "run-1"));
    expect(workOf([...closed, ...steps(100, "run-1")], wide).calls.length).toBeLessThanOrEqual(250);
  });

  it("P50: that were let go go from the page of who saw them", () => {
    const envelopes = [
      runStart("run-1"),
      ...steps(150, "run-1"),
      runStart("run-2"),
      ...steps(150, "run-2", "later"),
    ];
    const face = createAgUiEncoder(options);
    const fold = envelopes.reduce(applyEnvelope, emptyThreadProjection);
    const live = knownCalls(framesOf(toEntries(envelopes), options).map(({ event }) => event));
    expect(live).toEqual(knownCalls(face.fullSnapshot(fold, undefined).map(({ event }) => event)));
    expect(live.length).toBeLessThanOrEqual(202);
  });

  it("cost the same in a long thread as in a short one", () => {
    const timed = (known: CallTree) => {
      const began = performance.now();
      workOf(steps(2_000, "run-1"), known);
      return performance.now() - began;
    };
    const short = workOf([runStart("run-1")]);
    const long = workOf(Array.from({ length: 5_000 }, (_, index) => runStart(`run-${index}`)));
    timed(short);
    expect(timed(long)).toBeLessThan(10 * timed(short) + 50);
  });

  it("carry long values cut short", () => {
    const envelopes = drive([tool("on_tool_start", { input: { text: "a".repeat(10_000) } })]);
    const search = knownCalls(agUi(envelopes, { calls: true })).find((one) => one.callId === "c1");
    expect(JSON.stringify(search).length).toBeLessThan(3_000);
    expect(search).toMatchObject({ args: expect.stringMatching(/^\{"text":"a+…$/) });
  });
});

const NO_CALLS: CallTree = { runs: [], calls: [] };

function workOf(envelopes: readonly Envelope[], from: CallTree = NO_CALLS): CallTree {
  return envelopes.reduce((known, envelope) => updateCallTree(known, envelope) ?? known, from);
}

const [firstStart = raise()] = drive([]);

function runStart(runId: string): Envelope {
  return { ...firstStart, run_id: runId, call_id: runId };
}

function step(type: "step_start" | "step_end", callId: string, parentId: string, runId = "run-1"): Envelope {
  const base = { ...runStart(runId), call_id: callId, parent_id: parentId };
  return type === "step_start"
    ? { ...base, type, payload: { node: callId, step: null } }
    : { ...base, type, payload: { node: callId, status: "ok" } };
}

/** Nodes one after the other, each with one node inside. */
function steps(count: number, parentId: string, name = "step"): Envelope[] {
  const runId = parentId.startsWith("run-") ? parentId : "run-1";
  return Array.from({ length: count }, (_, index) => `${name}-${index}`).flatMap((id) => [
    step("step_start", id, parentId, runId),
    step("step_start", `${id}/in`, id, runId),
    step("step_end", `${id}/in`, id, runId),
    step("step_end", id, parentId, runId),
  ]);
}

function raise(): never {
  throw new Error("the run has no start");
}
