import type { Envelope, Json, UpstreamChunk } from "@throughline/ai-core";
import {
  applyEnvelope,
  emptyThreadProjection,
  type ThreadProjection,
  threadProjectionCodec,
} from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { drive } from "../testing/drive.js";

/** A subgraph that asks: `asker` inside `planner`, whose task has this id. */
function asks(task: string): UpstreamChunk[] {
  const ns = [`planner:${task}`];
  return [
    { ns: [], mode: "tasks", data: { id: task, name: "planner", input: {} } },
    { ns, mode: "values", data: { topic: "rain" } },
    { ns, mode: "tasks", data: { id: `${task}-in`, name: "asker", input: {} } },
    { ns, mode: "checkpoints", data: { id: `checkpoint-${task}`, step: 1 } },
    {
      ns: [],
      mode: "tasks",
      data: { id: task, name: "planner", result: {}, interrupts: [{ id: task, value: "?" }] },
    },
  ];
}

function ask(
  task: string,
  fold: ThreadProjection = emptyThreadProjection,
  answers: readonly string[] = [],
): Envelope[] {
  const interrupts = [{ interrupt_id: task, value: "?" as Json, node: "planner", ns: [`planner:${task}`] }];
  return drive(asks(task), {
    fold,
    answers,
    runId: `run-${task}`,
    final: { status: "interrupted", interrupts },
  });
}

const after = (envelopes: readonly Envelope[], fold: ThreadProjection = emptyThreadProjection) =>
  envelopes.reduce(applyEnvelope, fold);

describe("a subgraph that waits for an answer", () => {
  it("is resumed from the checkpoint it waits at, and says what it was given", () => {
    const waiting = after(ask("t1"));
    expect(waiting.suspended).toEqual([{ call_id: "planner:t1", checkpoint_id: "checkpoint-t1" }]);
    const resumed = drive(asks("t1").slice(0, 3), { fold: waiting, answers: ["t1"], runId: "run-2" });
    expect(resumed.find(({ type }) => type === "subgraph_resume")?.payload).toEqual({
      checkpoint_id: "checkpoint-t1",
      node: "planner",
    });
    expect(resumed.find(({ type }) => type === "tool_start")?.payload).toMatchObject({
      input: { topic: "rain" },
    });
    expect(after(resumed, waiting).suspended).toEqual([]);
  });

  it("is forgotten with its question: abandoned by a new message, as often as one likes", () => {
    let fold = emptyThreadProjection;
    for (let round = 0; round < 200; round += 1) fold = after(ask(`t${round}`, fold), fold);
    expect(fold.suspended).toEqual([{ call_id: "planner:t199", checkpoint_id: "checkpoint-t199" }]);
    expect(after(drive([], { fold, runId: "run-last" }), fold).suspended).toEqual([]);
  });

  it("is bounded even where each answer leads to another question", () => {
    let fold = after(ask("t0"));
    for (let round = 1; round < 150; round += 1) fold = after(ask(`t${round}`, fold, ["other"]), fold);
    expect(fold.suspended.length).toBeLessThanOrEqual(100);
  });
});

describe("a fold that the version before stored", () => {
  it("is read: its runs stay, and what waits is resumed", () => {
    const { runs, calls, suspended, checkpoints: _, ...rest } = after(ask("t1"));
    const before = {
      ...rest,
      calls: [...runs, ...calls],
      suspended: suspended.map(({ call_id }) => call_id),
    };
    const stored = JSON.parse(JSON.stringify(before)) as Json;
    expect(threadProjectionCodec.decode(stored, 2)).toEqual({
      ...rest,
      runs,
      calls,
      suspended: [{ call_id: "planner:t1", checkpoint_id: null }],
      checkpoints: [],
    });
    expect(threadProjectionCodec.reads).toEqual([3, 2]);
    expect(threadProjectionCodec.decode(stored, 1)).toBeUndefined();
  });
});
