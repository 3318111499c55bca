import type { Envelope, LogEntry } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { streamedMessages } from "./recovery.js";

const RUN = "run-1";

type Part = Pick<Envelope, "type" | "payload" | "call_id" | "parent_id">;

function log(...parts: readonly Part[]): readonly LogEntry[] {
  return parts.map((part, index) => {
    const about = { ts: 0, trace_id: "t", run_id: RUN, thread_id: "thread", attempt: 0, seq: 1 };
    const envelope = { ...about, origin: "live", agent: "langgraph:a", ...part } as Envelope;
    return { epoch: "e", seq: index + 1, envelope };
  });
}

const begins = (path: string, parent: string): Part => ({
  type: "step_start",
  call_id: path,
  parent_id: parent,
  payload: { node: "node", step: null },
});
const stores = (graph: string, step: number): Part => ({
  type: "subgraph_checkpoint",
  call_id: graph,
  parent_id: RUN,
  payload: { checkpoint_id: "c", node: graph, state_digest: "d", step },
});
const toolEnds = (path: string, messageId: string): Part => ({
  type: "tool_end",
  call_id: "call-1",
  parent_id: path,
  payload: { tool_name: "t", kind: "tool", result: "r", status: "ok", message_id: messageId },
});

describe("streamedMessages", () => {
  it("places a tool's result in a subgraph after the step that the subgraph had stored when the task began", () => {
    const shown = streamedMessages(
      log(
        begins("sub:1", RUN),
        stores("sub:1", 0),
        stores("sub:1", 1),
        begins("sub:1|tools:2", "sub:1"),
        toolEnds("sub:1|tools:2", "m1"),
        stores("sub:1", 2),
      ),
    );
    expect(shown).toEqual([{ messageId: "m1", ns: ["sub:1", "tools:2"], step: 2 }]);
  });

  it("places a result of a graph whose checkpoints are not told past every step", () => {
    const shown = streamedMessages(log(begins("tools:2", RUN), toolEnds("tools:2", "m1")));
    expect(shown).toEqual([{ messageId: "m1", ns: ["tools:2"], step: Number.MAX_SAFE_INTEGER }]);
  });

  it("forgets what was retracted", () => {
    const retract: Part = {
      type: "retract",
      call_id: "r",
      parent_id: RUN,
      payload: { message_ids: ["m1"], call_ids: [], reason: "taken_over" },
    };
    expect(streamedMessages(log(toolEnds("tools:2", "m1"), retract))).toEqual([]);
  });
});
