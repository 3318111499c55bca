import { describe, expect, it } from "vitest";
import { normaliseClientMessages, normaliseGraphMessages } from "./normalise.js";
import { type AgUiVersion, applyWithStockClient, assertValidEvents } from "./stock-client.js";

const LINES: readonly AgUiVersion[] = ["0.0", "1.0"];

const started = (runId = "run-1") => ({ type: "RUN_STARTED", threadId: "thread", runId });
const finished = (runId = "run-1") => ({ type: "RUN_FINISHED", threadId: "thread", runId });
const open = { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" };
const says = (delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta });
const close = { type: "TEXT_MESSAGE_END", messageId: "m1" };

const RUN = [
  started(),
  { type: "STATE_SNAPSHOT", snapshot: { count: 1 } },
  open,
  says("Hel"),
  says("lo"),
  close,
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "clock", parentMessageId: "m1" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"zone":' },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '"UTC"}' },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "noon", role: "tool" },
  { type: "STATE_DELTA", delta: [{ op: "replace", path: "/count", value: 2 }] },
  finished(),
];

const GRAPH_MESSAGES = [
  {
    id: "m1",
    type: "ai",
    content: [
      { type: "reasoning", reasoning: "greet first" },
      { type: "text", text: "Hello" },
    ],
    tool_calls: [{ id: "c1", name: "clock", args: { zone: "UTC" } }],
  },
  { id: "t1", type: "tool", tool_call_id: "c1", content: "noon" },
];

describe.each(LINES)("the stock client of line %s", (line) => {
  it("shows the same conversation that the graph holds", async () => {
    const { messages, state, errors, warnings } = await applyWithStockClient(line, RUN);
    expect(errors).toEqual([]);
    expect(warnings).toEqual([]);
    expect(state).toEqual({ count: 2 });
    expect(normaliseClientMessages(messages)).toEqual(normaliseGraphMessages(GRAPH_MESSAGES));
  });

  it("differs from the graph when a piece of text arrives twice", async () => {
    const doubled = RUN.flatMap((event) => (event === RUN[4] ? [event, event] : [event]));
    const { messages, errors } = await applyWithStockClient(line, doubled);
    expect(errors).toEqual([]);
    expect(normaliseClientMessages(messages)).not.toEqual(normaliseGraphMessages(GRAPH_MESSAGES));
  });

  it("differs from the graph when arguments arrive twice", async () => {
    const doubled = RUN.flatMap((event) => (event === RUN[8] ? [event, event] : [event]));
    const { messages } = await applyWithStockClient(line, doubled);
    expect(normaliseClientMessages(messages)).not.toEqual(normaliseGraphMessages(GRAPH_MESSAGES));
  });

  it("shows a message that holds nothing but calls", async () => {
    const call = { id: "c2", name: "clock", args: {} };
    const events = [
      started(),
      { type: "TOOL_CALL_START", toolCallId: call.id, toolCallName: call.name, parentMessageId: "m2" },
      { type: "TOOL_CALL_END", toolCallId: call.id },
      finished(),
    ];
    const { messages, errors } = await applyWithStockClient(line, events);
    expect(errors).toEqual([]);
    expect(normaliseClientMessages(messages)).toEqual(
      normaliseGraphMessages([{ id: "m2", type: "ai", content: "", tool_calls: [call] }]),
    );
  });

  it("goes on from an initial view through several runs", async () => {
    const user = { id: "u1", role: "user", content: "hi" };
    const events = [
      ...RUN,
      started("run-2"),
      { type: "TEXT_MESSAGE_START", messageId: "m2", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "again" },
      { type: "TEXT_MESSAGE_END", messageId: "m2" },
      finished("run-2"),
    ];
    const { messages, errors } = await applyWithStockClient(line, events, {
      messages: [user],
      state: { count: 0 },
    });
    expect(errors).toEqual([]);
    expect(normaliseClientMessages(messages).map(({ id }) => id)).toEqual(["u1", "m1", "t1", "m2"]);
  });

  it("applies a run that says nothing", async () => {
    const { errors, messages } = await applyWithStockClient(line, [started(), finished()]);
    expect(errors).toEqual([]);
    expect(messages).toEqual([]);
  });

  it("reports an event after the terminal", async () => {
    const events = [...RUN, { type: "STATE_DELTA", delta: [] }];
    const { errors } = await applyWithStockClient(line, events);
    expect(errors.join()).toMatch(/already finished/);
    await expect(assertValidEvents(line, events)).rejects.toThrow(/already finished/);
  });

  it("reports a message that is still open when the run finishes", async () => {
    const { errors } = await applyWithStockClient(line, [started(), open, says("Hel"), finished()]);
    expect(errors.join()).toMatch(/still active/);
  });

  it("reports a malformed event", async () => {
    const events = [started(), { type: "TEXT_MESSAGE_START", role: "assistant" }, finished()];
    const { errors } = await applyWithStockClient(line, events);
    expect(errors.join()).toMatch(/messageId/);
    await expect(assertValidEvents(line, events)).rejects.toThrow(/event 1: .*messageId/);
  });

  it("accepts a valid run without a warning", async () => {
    await expect(assertValidEvents(line, RUN)).resolves.toEqual({ warnings: [] });
  });

  it("collects a warning instead of printing it", async () => {
    const events = [
      started(),
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/no/where", value: 1 }] },
      finished(),
    ];
    const { warnings } = await applyWithStockClient(line, events);
    expect(warnings.join()).toMatch(/patch/i);
  });

  it("leaves reasoning and activities out of the comparison", async () => {
    const thought = "r1";
    const events = [
      started(),
      { type: "REASONING_START", messageId: thought },
      { type: "REASONING_MESSAGE_START", messageId: thought, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: thought, delta: "hm" },
      { type: "REASONING_MESSAGE_END", messageId: thought },
      { type: "REASONING_END", messageId: thought },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "progress", content: { step: 1 } },
      finished(),
    ];
    const { messages, errors } = await applyWithStockClient(line, events);
    expect(errors).toEqual([]);
    expect(messages).toHaveLength(2);
    expect(normaliseClientMessages(messages)).toEqual([]);
  });
});

describe("line 1.0 alone", () => {
  it("leaves a subagent's messages out of the comparison", async () => {
    const subagentRunId = "s1";
    const events = [
      started(),
      { type: "SUBAGENT_STARTED", subagentRunId, name: "scout" },
      { type: "TEXT_MESSAGE_START", messageId: "m9", role: "assistant", subagentRunId },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m9", delta: "found it", subagentRunId },
      { type: "TEXT_MESSAGE_END", messageId: "m9", subagentRunId },
      { type: "SUBAGENT_FINISHED", subagentRunId },
      finished(),
    ];
    const { messages, errors } = await applyWithStockClient("1.0", events);
    expect(errors).toEqual([]);
    expect(messages).toHaveLength(1);
    expect(normaliseClientMessages(messages)).toEqual([]);
  });

  it("warns of a property that the protocol does not know", async () => {
    const { warnings } = await assertValidEvents("1.0", [{ ...started(), colour: "blue" }, finished()]);
    expect(warnings.join()).toMatch(/colour/);
  });
});
