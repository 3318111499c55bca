import type { Envelope, RunStatus } from "@throughline/ai-core";
import {
  applyEntry,
  applyEnvelope,
  createAgUiEncoder,
  createAiEventsEncoder,
  createUiMessageEncoder,
  emptyThreadProjection,
} from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agent, agUi, call, drive, piece } from "./testing/drive.js";
import { toEntries } from "./testing/recording.js";

const custom = (data: unknown) => ({ ns: [agent], mode: "custom", data });
const dispatched = (name: string, data: unknown) => ({
  ns: [],
  mode: "events",
  data: { event: "on_custom_event", name, data, metadata: { langgraph_checkpoint_ns: agent } },
});

describe("what graphs already do for other frontends", () => {
  it.each(["emit-messages", "copilotkit:emit-messages"])("%s: false mutes a model's text", (key) => {
    const muted = {
      ns: [agent],
      mode: "messages",
      data: [
        { type: "ai", id: "m", content: "x", tool_call_chunks: [] },
        { langgraph_checkpoint_ns: agent, [key]: false },
      ],
    };
    expect(drive([muted]).some(({ type }) => type === "llm_token")).toBe(false);
  });

  it("emit-tool-calls: false mutes calls but not text", () => {
    const metadata = { langgraph_checkpoint_ns: agent, "copilotkit:emit-tool-calls": false };
    const chunk = {
      type: "ai",
      id: "m",
      content: "hi",
      tool_call_chunks: [{ index: 0, id: "c", name: "a", args: "{}" }],
    };
    const tokens = drive([{ ns: [agent], mode: "messages", data: [chunk, metadata] }]).filter(
      ({ type }) => type === "llm_token",
    );
    expect(tokens.map(({ payload }) => payload)).toEqual([{ message_id: "m", text: "hi" }]);
  });

  it("predict_state announces itself when the tool it names is called", () => {
    const predict_state = [{ state_key: "plan", tool: "write", tool_argument: "text" }];
    const chunk = {
      type: "ai",
      id: "m",
      content: "",
      tool_call_chunks: [{ index: 0, id: "c", name: "write", args: "" }],
    };
    const events = agUi(
      drive([
        { ns: [agent], mode: "messages", data: [chunk, { langgraph_checkpoint_ns: agent, predict_state }] },
      ]),
    );
    expect(events.find(({ type }) => type === "CUSTOM")).toEqual({
      type: "CUSTOM",
      name: "PredictState",
      value: predict_state,
    });
  });

  it("predict_state is told behind the call it is about to who comes while that is written, and not afterwards", () => {
    const predict_state = [
      { state_key: "plan", tool: "write", tool_argument: "text" },
      { state_key: "title", tool: "name", tool_argument: "" },
    ];
    const metadata = { langgraph_checkpoint_ns: agent, predict_state };
    const part = (chunk: object) => ({ type: "ai", id: "m", content: "", tool_call_chunks: [chunk] });
    const envelopes = drive([
      {
        ns: [agent],
        mode: "messages",
        data: [part({ index: 0, id: "c", name: "write", args: "" }), metadata],
      },
      { ns: [agent], mode: "messages", data: [part({ index: 0, args: '{"text":"Fi' }), metadata] },
    ]);
    const written = envelopes.findLastIndex(({ type }) => type === "llm_token") + 1;
    const told = (count: number) =>
      createAgUiEncoder({ threadName: "t", line: "1.0", interrupts: "standard" })
        .fullSnapshot(envelopes.slice(0, count).reduce(applyEnvelope, emptyThreadProjection), undefined)
        .map(({ event }) => event);
    expect(told(written).slice(-2)).toEqual([
      expect.objectContaining({ type: "TOOL_CALL_START", toolCallId: "c" }),
      { type: "CUSTOM", name: "PredictState", value: predict_state.slice(0, 1) },
    ]);
    expect(told(envelopes.length).filter(({ type }) => type === "CUSTOM")).toEqual([]);
  });

  it.each([
    ["dispatched in the events dialect", "events" as const, dispatched],
    [
      "written to the custom stream",
      "modes" as const,
      (name: string, data: unknown) => custom({ name, data }),
    ],
  ])("manually emitted messages, calls and states are what they say, %s", (_, dialect, emit) => {
    const events = agUi(
      drive(
        [
          emit("manually_emit_message", { message_id: "m9", message: "hello" }),
          emit("copilotkit_manually_emit_tool_call", { id: "c9", name: "show", args: { a: 1 } }),
          emit("manually_emit_state", { plan: ["x"] }),
        ],
        { dialect },
      ),
    );
    expect(events).toEqual(
      expect.arrayContaining([
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m9", delta: "hello" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c9", delta: '{"a":1}' },
        { type: "STATE_SNAPSHOT", snapshot: { plan: ["x"] } },
      ]),
    );
  });

  it("anything else passes under its own name", () => {
    const names = drive([
      custom({ type: "progress", of: 3 }),
      custom("plain"),
      custom({ name: "mine", v: 1 }),
    ])
      .filter(({ type }) => type === "custom")
      .map(({ payload }) => payload);
    expect(names).toEqual([
      { name: "progress", value: { type: "progress", of: 3 } },
      { name: "custom", value: "plain" },
      { name: "mine", value: { name: "mine", v: 1 } },
    ]);
  });
});

describe("caps", () => {
  it("warns once when a call's arguments pass 64 K characters, and goes on", () => {
    const big = "x".repeat(40_000);
    const envelopes = drive([
      call(0, { id: "c", name: "a", args: big }),
      call(0, { args: big }),
      call(0, { args: big }),
      piece({ content: "still here" }),
    ]);
    expect(envelopes.filter(({ type }) => type === "warning")).toHaveLength(1);
    expect(JSON.stringify(envelopes)).toContain("still here");
  });

  it("holds at most 2,000 results that wait for their messages, and loses none", () => {
    const chunks = Array.from({ length: 2_030 }, (_, index) => [
      call(index, { id: `c${index}`, name: "a", args: "{}" }),
      {
        ns: [agent],
        mode: "tools",
        data: { event: "on_tool_end", toolCallId: `c${index}`, name: "a", output: `r${index}` },
      },
    ]).flat();
    const envelopes = drive(chunks);
    expect(envelopes.filter(({ type }) => type === "warning")).toHaveLength(1);
    const results = envelopes.flatMap((envelope) =>
      envelope.type === "tool_end" ? [envelope.payload.result] : [],
    );
    expect(new Set(results).size).toBe(2_030);
  });
});

describe("the AiEvents face", () => {
  function read(envelopes: ReturnType<typeof drive>, from = emptyThreadProjection) {
    const face = createAiEventsEncoder({ executorType: "inproc" });
    let fold = from;
    return toEntries(envelopes).flatMap((entry) => {
      const events = face.events(fold, entry);
      fold = applyEntry(fold, entry);
      return events;
    });
  }

  it("is text_delta*, then usage_report, then the text, then done", () => {
    const usage = {
      usage_metadata: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      response_metadata: { finish_reason: "stop", model_name: "m" },
    };
    expect(read(drive([piece({ content: "Hel" }), piece({ content: "lo", ...usage })]))).toEqual([
      { type: "text_delta", delta: "Hel" },
      { type: "text_delta", delta: "lo" },
      {
        type: "usage_report",
        usageUnitId: null,
        model: "m",
        inputTokens: 3,
        outputTokens: 2,
        costUsd: null,
        executorType: "inproc",
      },
      { type: "assistant_final", content: "Hello" },
      { type: "done" },
    ]);
  });

  it("tells no result of a subagent's tool, also one that comes after its step", () => {
    const [start] = drive([]);
    if (!start) throw new Error("A run begins.");
    const late: Envelope = {
      ...start,
      type: "tool_end",
      call_id: "c9",
      parent_id: "gone",
      payload: { tool_name: "search", kind: "tool", result: "x", status: "error", subagent_id: "tools:1" },
    };
    expect(read([start, late])).toEqual([]);
  });

  it("tells a run that only asks by its open interrupt, and no earlier run's answer", () => {
    const before = drive([piece({ content: "OLD ANSWER" })], { runId: "run-0" }).reduce(
      applyEnvelope,
      emptyThreadProjection,
    );
    const interrupt = { interrupt_id: "i1", value: { question: "Sure?" }, ns: [], node: "ask" };
    const events = read(
      drive([], { fold: before, final: { status: "interrupted", interrupts: [interrupt] } }),
      before,
    );
    expect(events.slice(-2)).toEqual([
      { type: "assistant_final", content: "" },
      {
        type: "done",
        status: "interrupted",
        interrupts: [{ interruptId: "i1", value: { question: "Sure?" } }],
      },
    ]);
  });

  it("tells tools, and ends exactly once with done or error", () => {
    const output = { type: "tool", id: "t1", tool_call_id: "c1", content: "noon" };
    const tools = [
      call(0, { id: "c1", name: "clock", args: '{"zone":"UTC"}' }),
      {
        ns: [agent],
        mode: "tools",
        data: { event: "on_tool_start", toolCallId: "c1", name: "clock", input: '{"zone":"UTC"}' },
      },
      { ns: [agent], mode: "tools", data: { event: "on_tool_end", toolCallId: "c1", name: "clock", output } },
    ];
    expect(read(drive(tools)).slice(0, 2)).toEqual([
      { type: "tool_call_start", toolCallId: "c1", toolName: "clock", args: { zone: "UTC" } },
      { type: "tool_call_result", toolCallId: "c1", toolName: "clock", result: "noon", isError: false },
    ]);
    for (const [status, code] of [
      ["error", "run_failed"],
      ["cancelled", "cancelled"],
    ] as const) {
      const ends = read(drive(tools, { final: { status } })).filter(
        ({ type }) => type === "done" || type === "error",
      );
      expect(ends).toMatchObject([{ type: "error", ok: false, code }]);
    }
  });
});

describe("outside a run", () => {
  it("wraps a state-only change in a run of its own (R16)", () => {
    const [start] = drive([]);
    if (!start) return expect.unreachable();
    const envelopes = [
      ...drive([]),
      { ...start, type: "state_snapshot" as const, call_id: "watcher", payload: { state: { n: 1 } } },
    ];
    expect(agUi(envelopes).slice(-3)).toMatchObject([
      { type: "RUN_STARTED", runId: expect.stringMatching(/^throughline:/) },
      { type: "STATE_SNAPSHOT" },
      { type: "RUN_FINISHED" },
    ]);
  });

  it("announces open interrupts to whoever connects, and an empty thread as an empty run", () => {
    const face = createAgUiEncoder({ threadName: "plan", line: "1.0", interrupts: "both" });
    const interrupts = [{ interrupt_id: "i1", value: "?", node: null, ns: [] }];
    const asked = face
      .fullSnapshot({ ...emptyThreadProjection, interrupts }, undefined)
      .map(({ event }) => event.type);
    expect(asked).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "CUSTOM", "RUN_FINISHED"]);
    const empty = face.fullSnapshot(emptyThreadProjection, undefined).map(({ event }) => event.type);
    expect(empty).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  });

  it("P61: tells whoever connects later how the last run ended, without ending their own request with an error", () => {
    const face = createAgUiEncoder({ threadName: "plan", line: "1.0", interrupts: "standard" });
    const error = { code: "run_failed", message: "The run failed." } as const;
    const told = (status: RunStatus) => {
      const envelopes = drive([]).map((envelope) =>
        envelope.type === "run_end"
          ? { ...envelope, payload: { status, ...(status === "error" && { error }) } }
          : envelope,
      );
      return face.fullSnapshot(envelopes.reduce(applyEnvelope, emptyThreadProjection), undefined).at(-1)
        ?.event;
    };
    const ended = (lastRun: object) => ({ type: "RUN_FINISHED", metadata: { throughline: { lastRun } } });
    expect(told("error")).toMatchObject(ended({ status: "error", error }));
    expect(told("cancelled")).toMatchObject(ended({ status: "cancelled" }));
    expect(told("success")?.metadata).not.toHaveProperty("throughline.lastRun");
  });

  it("P61: tells whoever connects later that a graph paused at a breakpoint, where it asks nothing", () => {
    const paused = drive([])
      .map(
        (envelope): Envelope =>
          envelope.type === "run_end" ? { ...envelope, payload: { status: "interrupted" } } : envelope,
      )
      .reduce(applyEnvelope, emptyThreadProjection);
    for (const line of ["0.0", "1.0"] as const) {
      const face = createAgUiEncoder({ threadName: "plan", line, interrupts: "standard" });
      expect(face.fullSnapshot(paused, undefined).at(-1)?.event).toMatchObject({
        type: "RUN_FINISHED",
        metadata: { throughline: { status: "interrupted" } },
      });
    }
    const uiEnd = (fold: typeof paused) => createUiMessageEncoder().prelude(fold).at(-1);
    const done = { ...paused, run: paused.run && { ...paused.run, status: "success" as const } };
    expect(uiEnd(paused)).not.toEqual(uiEnd(done));
  });
});

it.each(["throughline.calls", "on_interrupt", "on_interrupt_x"])(
  "gives a graph's event %s another name, and warns once",
  (name) => {
    const chunk = { ns: [], mode: "custom", data: { name, value: 1 } };
    const envelopes = drive([chunk, chunk]);
    const custom = envelopes.filter(({ type }) => type === "custom");
    expect(custom.map(({ payload }) => payload)).toMatchObject([
      { name: `graph.${name}` },
      { name: `graph.${name}` },
    ]);
    const warnings = envelopes.filter(({ type }) => type === "warning");
    expect(warnings.map(({ payload }) => payload)).toMatchObject([{ code: "reserved_event_name" }]);
  },
);
