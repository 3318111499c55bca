import type { EnvelopeOf, Interrupt, Json, JsonObject, PatchOperation } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { applyEnvelope } from "./fold.js";
import { emptyThreadProjection } from "./thread-fold.js";

const BASE = {
  ts: 0,
  trace_id: "trace",
  run_id: "run",
  thread_id: "thread",
  attempt: 0,
  parent_id: null,
  call_id: "run",
  seq: 1,
  origin: "live",
  agent: "langgraph:chat",
} as const;

function delta(...ops: PatchOperation[]): EnvelopeOf<"state_delta"> {
  return { ...BASE, type: "state_delta", payload: { ops } };
}

function start(given: Readonly<Record<string, Json>>, attempt = 0): EnvelopeOf<"run_start"> {
  const payload: EnvelopeOf<"run_start">["payload"] = {
    graph_id: "langgraph:chat",
    input: { messages: [] },
    answers: Object.keys(given),
    given: { ...given },
    started_by: { kind: "client", person: "ann" },
  };
  return { ...BASE, type: "run_start", attempt, payload };
}

describe("a fold's state", () => {
  const before = { ...emptyThreadProjection, state: { list: [1], n: 1 } };

  it("shares every channel that a delta does not touch", () => {
    const after = applyEnvelope(before, delta({ op: "replace", path: "/n", value: 2 }));
    expect(after.state).toEqual({ list: [1], n: 2 });
    expect(after.state.list).toBe(before.state.list);
  });

  it("stays as it is when an operation of the delta does not fit", () => {
    const added: PatchOperation = { op: "add", path: "/x", value: 1 };
    const after = applyEnvelope(before, delta(added, { op: "replace", path: "/missing", value: 1 }));
    expect(after.state).toBe(before.state);
  });
});

describe("P92: a run that answers", () => {
  const ask = (interrupt_id: string, value: Json): Interrupt => ({ interrupt_id, value, node: null, ns: [] });
  const interrupts = [ask("b", { options: ["KLM", "United"] }), ask("a", "Shall I go on?")];

  it("says who answered what, in the order of the questions", () => {
    const { runs } = applyEnvelope({ ...emptyThreadProjection, interrupts }, start({ a: true, b: "KLM" }));
    expect(runs[0]?.started_by?.person).toBe("ann");
    expect(runs[0]?.answered).toEqual([
      { interrupt_id: "b", words: "chose KLM" },
      { interrupt_id: "a", words: "said yes" },
    ]);
  });

  it("keeps saying it when it is recovered and its questions are gone", () => {
    const begun = applyEnvelope({ ...emptyThreadProjection, interrupts }, start({ b: "KLM" }));
    const { runs } = applyEnvelope(begun, start({ b: "KLM" }, 1));
    expect(runs).toHaveLength(1);
    expect(runs[0]?.answered).toEqual([{ interrupt_id: "b", words: "chose KLM" }]);
  });

  it("says the answer alone where the log no longer has the question", () => {
    const { runs } = applyEnvelope(emptyThreadProjection, start({ gone: "KLM" }));
    expect(runs[0]?.answered).toEqual([{ interrupt_id: "gone", words: "answered “KLM”" }]);
  });

  it("names the call that a question tells by its id alone", () => {
    const responseSchema: JsonObject = { type: "object", properties: { approved: { type: "boolean" } } };
    const asked = ask("q", { reason: "tool_call", toolCallId: "c", responseSchema });
    const tool_calls = [{ id: "c", name: "pay", args: "{}" }];
    const messages = [{ id: "m", role: "assistant" as const, content: "", tool_calls }];
    const projection = { ...emptyThreadProjection, interrupts: [asked], messages };
    const { runs } = applyEnvelope(projection, start({ q: { approved: true } }));
    expect(runs[0]?.answered).toEqual([{ interrupt_id: "q", words: "approved pay" }]);
  });
});

describe("a fold's runs", () => {
  it("are the newest, however many the thread had, and the others are counted", () => {
    let projection = emptyThreadProjection;
    const sizes: number[] = [];
    for (let at = 0; at < 10_000; at += 1) {
      const run = { run_id: `run-${at}`, call_id: `run-${at}` };
      const step = { ...BASE, ...run, call_id: "node", parent_id: run.call_id };
      projection = applyEnvelope(projection, { ...start({}), ...run });
      projection = applyEnvelope(projection, {
        ...step,
        type: "step_start",
        payload: { node: "agent", step: 1 },
      });
      projection = applyEnvelope(projection, {
        ...BASE,
        ...run,
        type: "run_end",
        payload: { status: "success" },
      });
      if (at === 999 || at === 9_999) sizes.push(JSON.stringify(projection).length);
    }
    expect(projection.runs.length).toBe(100);
    expect(projection.runs.at(-1)?.run_id).toBe("run-9999");
    expect(projection.earlier_runs).toBe(9_900);
    expect(projection.calls.every(({ run_id }) => projection.runs.some((run) => run.run_id === run_id))).toBe(
      true,
    );
    expect(sizes[1]).toBeLessThan(100_000);
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(2_000);
  });
});

it("a fold keeps the sum of a run's usage, not its list of calls", () => {
  const sum = { input_tokens: 11, output_tokens: 3, total_tokens: 14, model_calls: 1, cost_usd: 0.000017 };
  const call = {
    usage_unit_id: "u",
    model: "cheap",
    input_tokens: 11,
    output_tokens: 3,
    cost_usd: 0.000017,
  };
  const usage: EnvelopeOf<"usage"> = {
    ...BASE,
    type: "usage",
    payload: { ...sum, model: "cheap", complete: true, calls: [call] },
  };
  expect(applyEnvelope(emptyThreadProjection, usage).usage).toEqual({ ...sum, complete: true });
});
