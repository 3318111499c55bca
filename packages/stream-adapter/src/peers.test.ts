import type { Json } from "@throughline/ai-core";
import { applyEnvelope, emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agent, agUi, call, drive, piece, shown } from "./testing/drive.js";
import { foldBefore, framesOf, loadRecording, replay } from "./testing/recording.js";
import { applyWithStockClient, assertValidEvents } from "./testing/stock-client.js";

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

async function messagesOf(events: readonly object[]) {
  await assertValidEvents("0.0", events);
  await assertValidEvents("1.0", events);
  const view = await applyWithStockClient("0.0", events);
  expect(view.errors).toEqual([]);
  return view.messages;
}

/** Each of these is a bug that users of a peer filed. */
describe("what peers get wrong", () => {
  it("keeps parallel tool calls apart, however their pieces interleave (ag-ui#1016)", async () => {
    const events = agUi(
      drive([
        call(0, { id: "c1", name: "a", args: '{"x"' }),
        call(1, { id: "c2", name: "b", args: '{"y"' }),
        call(0, { args: ":1}" }),
        call(1, { args: ":2}" }),
      ]),
    );
    expect(await messagesOf(events)).toMatchObject([
      {
        toolCalls: [
          { id: "c1", function: { name: "a", arguments: '{"x":1}' } },
          { id: "c2", function: { arguments: '{"y":2}' } },
        ],
      },
    ]);
  });

  it("keeps calls apart that a provider numbers alike, by their ids", async () => {
    const events = agUi(
      drive([call(0, { id: "c1", name: "a", args: "{}" }), call(0, { id: "c2", name: "b", args: "{}" })]),
    );
    expect(await messagesOf(events)).toMatchObject([{ toolCalls: [{ id: "c1" }, { id: "c2" }] }]);
  });

  it("streams a tool call that follows text in the same message", async () => {
    const events = agUi(
      drive([piece({ content: "Let me see. " }), call(0, { id: "c1", name: "a", args: "{}" })]),
    );
    expect(await messagesOf(events)).toMatchObject([{ content: "Let me see. ", toolCalls: [{ id: "c1" }] }]);
  });

  it("streams name and arguments that come in a single piece, or name after arguments (ag-ui#2463)", async () => {
    const whole = agUi(
      drive([piece({ tool_call_chunks: undefined, tool_calls: [{ id: "c1", name: "a", args: { x: 1 } }] })]),
    );
    expect(await messagesOf(whole)).toMatchObject([{ toolCalls: [{ function: { arguments: '{"x":1}' } }] }]);
    const late = agUi(drive([call(0, { id: "c1", args: '{"x"' }), call(0, { name: "a", args: ":1}" })]));
    expect(await messagesOf(late)).toMatchObject([
      { toolCalls: [{ function: { name: "a", arguments: '{"x":1}' } }] },
    ]);
  });

  it("does not mix the text of nodes that stream at once", async () => {
    const other = "critic:task-2";
    const events = agUi(
      drive([
        piece({ content: "one " }),
        piece({ id: "m2", content: "eins " }, other),
        piece({ content: "two" }),
        piece({ id: "m2", content: "zwei" }, other),
      ]),
    );
    expect(await messagesOf(events)).toMatchObject([{ content: "one two" }, { content: "eins zwei" }]);
  });

  it("does not show a message again that the thread already held when a resumed node returns it", () => {
    const old = { id: "m1", role: "assistant" as const, content: "said before" };
    const envelopes = drive([piece({ content: "said before", tool_call_chunks: undefined })], {
      fold: shown([old]),
    });
    expect(types(envelopes)).not.toContain("llm_token");
  });

  it("sends nothing after a terminal, and closes what is open before it", () => {
    for (const [status, last] of [
      ["error", "RUN_ERROR"],
      ["cancelled", "RUN_FINISHED"],
    ] as const) {
      const events = agUi(drive([piece({ content: "half a sen" })], { final: { status } }));
      expect(types(events).slice(-3)).toEqual(["TEXT_MESSAGE_END", "STEP_FINISHED", last]);
    }
  });

  it("tells a cancelled run apart on both lines without breaking the older one", async () => {
    const envelopes = drive([], { final: { status: "cancelled" } });
    expect(agUi(envelopes, { line: "1.0" }).at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "cancelled" },
    });
    const older = agUi(envelopes).at(-1);
    expect(older).toMatchObject({ type: "RUN_FINISHED", metadata: { throughline: { status: "cancelled" } } });
    expect(older).not.toHaveProperty("outcome");
  });

  it("names the same run at its end as at its start (ag-ui#1279)", () => {
    const events = agUi(drive([]));
    expect(events.at(-1)).toMatchObject({ runId: "run-1", threadId: "plan" });
    expect(events.at(0)).toMatchObject({ runId: "run-1", threadId: "plan" });
  });

  it("sends the state once and then only what changes, never per event (ag-ui#2600)", () => {
    const values = (n: number) => ({
      ns: [],
      mode: "values",
      data: { n, files: { a: "x".repeat(500) }, messages: [] },
    });
    const events = agUi(
      drive([values(1), piece({ content: "a" }), values(1), piece({ content: "b" }), values(2)]),
    );
    expect(events.filter(({ type }) => type.startsWith("STATE_"))).toEqual([
      { type: "STATE_SNAPSHOT", snapshot: { n: 1, files: { a: "x".repeat(500) } } },
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: 2 }] },
    ]);
  });

  it("sends no prompt, no raw event and no upstream error text to a browser", () => {
    const secret = "SYSTEM-PROMPT sk-live-1";
    const chunks = [
      {
        ns: [],
        mode: "tasks",
        data: { id: "task-1", name: "agent", input: { messages: [{ content: secret }] } },
      },
      { ns: [], mode: "debug", data: { payload: secret } },
      {
        ns: [],
        mode: "checkpoints",
        data: { config: { configurable: { apiKey: secret } }, values: { messages: [secret] } },
      },
      piece({ content: "hi" }),
      {
        ns: [agent],
        mode: "tools",
        data: { event: "on_tool_error", toolCallId: "c1", name: "a", error: new Error(secret) },
      },
      { ns: [], mode: "error", data: { error: "TypeError", message: secret } },
    ];
    const envelopes = drive(chunks, { final: { status: "error" } });
    expect(JSON.stringify(envelopes)).not.toContain("sk-live-1");
    expect(JSON.stringify(agUi(envelopes))).not.toContain("sk-live-1");
    expect(JSON.stringify(drive(chunks, { final: { status: "error" }, profile: "debug" }))).toContain(
      "sk-live-1",
    );
  });

  it("does not take the bare interrupt of the last values for a state", () => {
    const values = { ns: [], mode: "values", data: { plan: "a", messages: [] } };
    const bare = { ns: [], mode: "values", data: { __interrupt__: [{ id: "i1", value: "?" }] } };
    const fold = drive([values, bare], { final: { status: "interrupted" } }).reduce(
      applyEnvelope,
      emptyThreadProjection,
    );
    expect(fold.state).toEqual({ plan: "a" });
    expect(fold.interrupts.map(({ interrupt_id }) => interrupt_id)).toEqual(["i1"]);
  });

  it("counts usage once per model call and sums over the run, never last-wins", () => {
    const usage = { usage_metadata: { input_tokens: 10, output_tokens: 1, total_tokens: 11 } };
    const end = { response_metadata: { finish_reason: "stop" } };
    const envelopes = drive([
      piece({ content: "a", ...usage }),
      piece({ ...end, usage_metadata: { input_tokens: 0, output_tokens: 4, total_tokens: 4 } }),
      piece({ id: "m2", content: "b", ...end, ...usage }),
      { ns: [], mode: "values", data: { messages: [{ type: "ai", id: "m2", content: "b", ...usage }] } },
    ]);
    expect(envelopes.find(({ type }) => type === "usage")?.payload).toEqual({
      input_tokens: 20,
      output_tokens: 6,
      total_tokens: 26,
      model: null,
      model_calls: 2,
      cost_usd: null,
    });
  });
});

it("tells a thought that was taken back as empty, so that thinking it again under the same id does not double it", async () => {
  const thinking = drive([piece({ content: [{ type: "reasoning", reasoning: "half a tho" }] })]).filter(
    ({ type }) => type !== "llm_end" && type !== "step_end" && type !== "usage" && type !== "run_end",
  );
  const [start] = thinking;
  if (!start) return expect.unreachable();
  const retract = { message_ids: ["m1"], call_ids: [], reason: "takeover" };
  const again = drive([
    piece({ content: [{ type: "reasoning", reasoning: "a whole thought" }] }),
    piece({ content: "so" }),
  ]);
  const events = agUi([
    ...thinking,
    { ...start, attempt: 1 },
    { ...start, type: "retract" as const, attempt: 1, payload: retract },
    ...again.slice(1).map((envelope) => ({ ...envelope, attempt: 1 })),
  ]);
  expect(await messagesOf(events)).toMatchObject([
    { role: "reasoning", content: "a whole thought" },
    { content: "so" },
  ]);
});

describe("interrupts", () => {
  const question = {
    message: "Which?",
    options: ["a"],
    tool_call_id: "c1",
    response_schema: { type: "string" },
  };
  const deep = ["writer:t1", "approve:t2"];
  const chunks = [
    { ns: ["writer:t1"], mode: "updates", data: { __interrupt__: [{ id: "i1", value: question }] } },
    {
      ns: ["writer:t1"],
      mode: "tasks",
      data: { id: "t2", name: "approve", result: {}, interrupts: [{ id: "i1", value: question }] },
    },
    { ns: [], mode: "updates", data: { __interrupt__: [{ id: "i1", value: question }] } },
  ];

  it("are announced once per id, from the deepest node that asks", () => {
    const asked = drive(chunks, { final: { status: "interrupted" } }).filter(
      ({ type }) => type === "interrupt",
    );
    expect(asked.map(({ payload }) => payload)).toEqual([
      { interrupt_id: "i1", value: question, node: "approve", ns: deep },
    ]);
  });

  it.each([
    ["modes", "0.0"],
    ["modes", "1.0"],
    ["events", "0.0"],
    ["events", "1.0"],
  ] as const)("are announced before the step that asks ends (%s, line %s)", async (dialect, line) => {
    const recording = loadRecording("travel-interrupt");
    const face = { threadName: "plan", line, interrupts: "legacy" } as const;
    const frames = framesOf(replay(recording, { dialect }), face, foldBefore(recording));
    const events = frames.map(({ event }) => event);
    await assertValidEvents(line, events);
    const asked = events.findIndex((event) => event.type === "CUSTOM" && event.name === "on_interrupt");
    const ended = events.flatMap((event, at) =>
      event.type === "STEP_FINISHED" && event.stepName.startsWith("flights_agent") ? [at] : [],
    );
    expect(asked).toBeGreaterThan(0);
    expect(ended.length).toBeGreaterThan(0);
    expect(Math.min(...ended)).toBeGreaterThan(asked);
  });

  it("leave a step that asks as interrupted, whatever stops the others", () => {
    const beside = { ns: [], mode: "tasks", data: { id: "t9", name: "beside" } };
    for (const status of ["cancelled", "error"] as const) {
      const envelopes = drive([...chunks, beside], { final: { ok: false, status } });
      const ends = envelopes.flatMap(({ type, call_id, payload }) =>
        type === "step_end" ? [[call_id, payload.status]] : [],
      );
      expect(Object.fromEntries(ends)).toMatchObject({
        [deep.join("|")]: "interrupted",
        "beside:t9": status,
      });
    }
  });

  it.each(["0.0", "1.0"] as const)(
    "have their answers in the answering RUN_STARTED (line %s)",
    async (line) => {
      const fold = drive(chunks, { final: { status: "interrupted" } }).reduce(
        applyEnvelope,
        emptyThreadProjection,
      );
      const startedWith = async (given: Record<string, Json>, interrupts: "legacy" | "standard" | "both") => {
        const [start, ...rest] = drive([], { fold, answers: Object.keys(given), runId: "run-2" });
        if (start?.type !== "run_start") return expect.unreachable();
        const answering = [{ ...start, payload: { ...start.payload, given } }, ...rest];
        const events = agUi(answering, { line, interrupts }, fold);
        await assertValidEvents(line, events);
        return events[0];
      };
      const klm = { airline: "KLM" };
      expect(await startedWith({ i1: klm }, "both")).toMatchObject({
        type: "RUN_STARTED",
        input: {
          messages: [],
          resume: [{ interruptId: "i1", status: "resolved", payload: klm }],
          forwardedProps: { command: { resume: JSON.stringify(klm) } },
        },
      });
      expect(await startedWith({ i1: "KLM" }, "legacy")).toMatchObject({
        input: { forwardedProps: { command: { resume: "KLM" } } },
      });
      expect(await startedWith({ i1: klm }, "legacy")).not.toHaveProperty("input.resume");
      expect(await startedWith({ i1: klm, i2: true }, "standard")).toMatchObject({
        input: {
          resume: [{ interruptId: "i1" }, { interruptId: "i2", status: "resolved", payload: true }],
          forwardedProps: {},
        },
      });
      const dismissed = { __agui_cancelled__: true, interrupt_id: "i1" };
      expect(await startedWith({ i1: dismissed }, "standard")).toHaveProperty("input.resume", [
        { interruptId: "i1", status: "cancelled" },
      ]);
      expect(await startedWith({}, "both")).not.toHaveProperty("input");
    },
  );

  it("take the form a request asked for", () => {
    const envelopes = drive(chunks, { final: { status: "interrupted" } });
    const legacy = agUi(envelopes, { interrupts: "legacy" });
    expect(legacy.find(({ type }) => type === "CUSTOM")).toMatchObject({
      name: "on_interrupt",
      value: JSON.stringify(question),
    });
    expect(legacy.at(-1)).not.toHaveProperty("outcome");
    const standard = agUi(envelopes, { interrupts: "standard" });
    expect(types(standard)).not.toContain("CUSTOM");
    expect(standard.at(-1)).toMatchObject({
      outcome: {
        type: "interrupt",
        interrupts: [
          {
            id: "i1",
            reason: "input_required",
            message: "Which?",
            toolCallId: "c1",
            responseSchema: { type: "string" },
          },
        ],
      },
    });
    expect(types(agUi(envelopes, { interrupts: "both" }))).toContain("CUSTOM");
  });

  it("are dropped by the run that answers them and kept by one that answers others", () => {
    const fold = drive(chunks, { final: { status: "interrupted" } }).reduce(
      applyEnvelope,
      emptyThreadProjection,
    );
    const open = (answers: readonly string[]) =>
      drive([], { fold, answers, runId: "run-2" }).slice(0, 1).reduce(applyEnvelope, fold).interrupts.length;
    expect([open(["i1"]), open(["other"]), open([])]).toEqual([0, 1, 0]);
  });

  it("tell the schema of the answer that stands beside the value, in both forms", () => {
    const schema = { type: "object", properties: { size: { type: "string" } } };
    const raw = { id: "i2", value: { any: "value" }, response_schema: schema };
    const envelopes = drive([{ ns: [], mode: "updates", data: { __interrupt__: [raw] } }], {
      final: { status: "interrupted" },
    });
    expect(envelopes.reduce(applyEnvelope, emptyThreadProjection).interrupts).toMatchObject([
      { response_schema: schema },
    ]);
    expect(agUi(envelopes, { interrupts: "standard" }).at(-1)).toMatchObject({
      outcome: {
        interrupts: [{ responseSchema: schema, metadata: { langgraph: { responseSchema: schema } } }],
      },
    });
    expect(agUi(envelopes, { interrupts: "legacy" }).find(({ type }) => type === "CUSTOM")).toMatchObject({
      metadata: { throughline: { interruptId: "i2", responseSchema: schema } },
    });
  });

  it.each(["error", "cancelled"] as const)(
    "stay open when the run that answers another ends as %s",
    (status) => {
      const other = { interrupt_id: "i2", value: "Sure?", node: "check", ns: ["check:t3"] };
      const fold = drive(chunks, { final: { status: "interrupted", interrupts: [other] } }).reduce(
        applyEnvelope,
        emptyThreadProjection,
      );
      const failed = drive([], {
        fold,
        answers: ["i1"],
        runId: "run-2",
        final: { ok: false, status, interrupts: [other] },
      });
      expect(failed.reduce(applyEnvelope, fold).interrupts).toEqual([other]);
      const standard = agUi(failed, { interrupts: "standard", line: "1.0" }, fold).at(-1);
      expect(standard).toMatchObject(
        status === "error"
          ? { type: "RUN_ERROR", metadata: { throughline: { interrupts: [{ id: "i2" }] } } }
          : { outcome: { type: "interrupt", interrupts: [{ id: "i2" }] } },
      );
      const legacy = agUi(failed, { interrupts: "legacy" }, fold);
      expect(legacy.filter((event) => "name" in event && event.name === "on_interrupt")).toHaveLength(1);
    },
  );

  it("resume the subgraph that waited, under the same call id", () => {
    const first = drive(chunks, { final: { status: "interrupted" } });
    const fold = first.reduce(applyEnvelope, emptyThreadProjection);
    const again = drive([{ ns: ["writer:t1"], mode: "tasks", data: { id: "t2", name: "approve" } }], {
      fold,
      answers: ["i1"],
      runId: "run-2",
    });
    expect(again.find(({ type }) => type === "subgraph_resume")?.call_id).toBe("writer:t1");
  });
});
