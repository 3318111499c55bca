import { describe, expect, it } from "vitest";
import { type Envelope, envelopeSchema, renderEnvelopeJsonSchema } from "./envelope.js";
import { ENVELOPE_TYPES } from "./envelope-types.js";

const base = {
  ts: 1732545858.123,
  trace_id: "t",
  run_id: "r",
  thread_id: "th",
  attempt: 0,
  parent_id: null,
  call_id: "c",
  seq: 1,
  origin: "live",
  agent: "chat",
} as const;

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };

const samples: readonly Envelope[] = [
  {
    ...base,
    type: "run_start",
    payload: {
      graph_id: "langgraph:chat",
      input: { messages: [] },
      answers: [],
      started_by: { kind: "client" },
    },
  },
  {
    ...base,
    type: "run_end",
    payload: { status: "error", error: { code: "run_failed", message: "It broke." } },
  },
  { ...base, type: "step_start", payload: { node: "agent", step: 1 } },
  { ...base, type: "step_end", payload: { node: "agent", status: "ok" } },
  {
    ...base,
    type: "llm_start",
    payload: { message_id: "m", model: null, params: {}, node: "agent", step: 1 },
  },
  {
    ...base,
    type: "llm_token",
    payload: { message_id: "m", tool_call: { index: 0, id: "c1", name: "clock", args: "{" } },
  },
  {
    ...base,
    type: "llm_end",
    payload: { message_id: "m", usage, finish_reason: "stop", model: "x", status: "ok" },
  },
  {
    ...base,
    type: "tool_start",
    payload: { tool_name: "clock", kind: "tool", node: "tools", args: { zone: "UTC" } },
  },
  { ...base, type: "tool_update", payload: { tool_name: "clock", data: [1] } },
  { ...base, type: "tool_end", payload: { tool_name: "clock", kind: "tool", result: "noon", status: "ok" } },
  {
    ...base,
    type: "subgraph_checkpoint",
    payload: { checkpoint_id: "k", node: null, state_digest: "d", step: 2 },
  },
  { ...base, type: "subgraph_resume", payload: { checkpoint_id: "k", node: "n" } },
  { ...base, type: "state_snapshot", payload: { state: { a: 1 }, checkpoint_id: "k" } },
  {
    ...base,
    type: "state_delta",
    payload: {
      ops: [
        { op: "add", path: "/a", value: null },
        { op: "remove", path: "/b" },
      ],
    },
  },
  {
    ...base,
    type: "interrupt",
    payload: { interrupt_id: "i", value: { message: "?" }, node: "n", ns: ["a:1"] },
  },
  { ...base, type: "usage", payload: { ...usage, model: "x", model_calls: 2, cost_usd: null } },
  { ...base, type: "retract", payload: { message_ids: ["m"], call_ids: [], reason: "takeover" } },
  { ...base, type: "custom", payload: { name: "progress", value: { done: 1 } } },
  { ...base, type: "warning", payload: { code: "args_too_large", message: "…" } },
  { ...base, type: "error", payload: { name: "Error", message: "…", class: "graph", node: null } },
];

describe("envelopeSchema", () => {
  it("has a sample of every type, each of which survives JSON and parsing unchanged", () => {
    expect(samples.map((sample) => sample.type).sort()).toEqual([...ENVELOPE_TYPES].sort());
    for (const sample of samples)
      expect(envelopeSchema.parse(JSON.parse(JSON.stringify(sample)))).toEqual(sample);
  });

  it("refuses an unknown type, a payload of another type and a seq of 0", () => {
    const [first] = samples;
    for (const wrong of [{ type: "nope" }, { payload: {} }, { seq: 0 }, { origin: "maybe" }]) {
      expect(envelopeSchema.safeParse({ ...first, ...wrong }).success).toBe(false);
    }
  });

  it("renders as a JSON Schema that lists every type", () => {
    const schema = renderEnvelopeJsonSchema();
    for (const type of ENVELOPE_TYPES) expect(schema).toContain(`"const": "${type}"`);
  });
});
