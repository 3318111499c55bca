import { randomBytes, randomUUID } from "node:crypto";

const TOKENS_PER_MESSAGE = 100;
const WORDS = ["rain", " over", " the", " small", " town", ",", " and", " morning", " again", ".\n"];

/**
 * The envelopes of a run that says 200 tokens in two messages, with a tool call between them, field for field as a driver
 * writes them. Sampling is left out: it merges tokens that come faster than people read.
 */
export function realRun(thread) {
  const runId = randomUUID();
  const nodes = [`agent:${randomUUID()}`, `agent:${randomUUID()}`];
  const toolCall = `call_${randomBytes(12).toString("hex")}`;
  const base = { trace_id: randomBytes(16).toString("hex"), run_id: runId, thread_id: thread.threadId };
  const counts = new Map();
  let now = 1_794_896_459_488;

  function envelope(type, callId, parentId, payload) {
    const seq = (counts.get(callId) ?? 0) + 1;
    counts.set(callId, seq);
    now += 17;
    const ids = { ...base, attempt: 0, parent_id: parentId, call_id: callId };
    return { type, ts: now / 1_000, ...ids, seq, origin: "live", agent: "langgraph:chat", payload };
  }

  function message(node, step, first) {
    const call = `${node}/llm/1`;
    const message_id = `msg_${randomBytes(12).toString("hex")}`;
    const usage = { input_tokens: 33, output_tokens: TOKENS_PER_MESSAGE, total_tokens: 133 };
    const about = { model: null, params: { provider: "ChatAnthropic" }, node: "agent", step };
    const end = { usage, finish_reason: "stop", model: "claude", status: "ok" };
    const tokens = Array.from({ length: TOKENS_PER_MESSAGE }, (_, n) =>
      envelope("llm_token", call, node, { message_id, text: WORDS[(first + n) % WORDS.length] }),
    );
    return [
      envelope("llm_start", call, node, { message_id, ...about }),
      ...tokens,
      envelope("llm_end", call, node, { message_id, ...end }),
    ];
  }

  const question = { id: randomUUID(), role: "user", content: "What is the weather, and what is it like?" };
  const start = { graph_id: "langgraph:chat", input: { messages: [question] }, answers: [] };
  const tool = { tool_name: "weather", kind: "tool" };
  const [thinking, answering] = nodes;
  return [
    envelope("run_start", runId, null, { ...start, started_by: { kind: "client" } }),
    envelope("step_start", thinking, runId, { node: "agent", step: null }),
    ...message(thinking, 1, 0),
    envelope("step_end", thinking, runId, { node: "agent", status: "ok" }),
    envelope("tool_start", toolCall, runId, { ...tool, node: null, args: { city: "Bergen" } }),
    envelope("tool_end", toolCall, runId, {
      ...tool,
      result: "Rain.",
      status: "ok",
      message_id: randomUUID(),
    }),
    envelope("step_start", answering, runId, { node: "agent", step: null }),
    ...message(answering, 3, 5),
    envelope("step_end", answering, runId, { node: "agent", status: "ok" }),
    envelope("state_snapshot", runId, null, { checkpoint_id: randomUUID() }),
    envelope("usage", runId, null, {
      ...{ input_tokens: 66, output_tokens: 200, total_tokens: 266 },
      ...{ model: "claude", model_calls: 2, cost_usd: null },
    }),
    envelope("run_end", runId, null, { status: "success" }),
  ];
}
