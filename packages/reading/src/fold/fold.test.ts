import type { EnvelopeOf, PatchOperation } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { applyEnvelope } from "./fold.js";
import { emptyFold } from "./thread-fold.js";

function delta(...ops: PatchOperation[]): EnvelopeOf<"state_delta"> {
  return {
    type: "state_delta",
    payload: { ops },
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
  };
}

describe("a fold's state", () => {
  const before = { ...emptyFold, state: { list: [1], n: 1 } };

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
