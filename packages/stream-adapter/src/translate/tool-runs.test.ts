import { applyEnvelope, emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { drive, piece } from "../testing/drive.js";

const result = (id: string, toolCallId: string) => ({
  ns: ["smithy:1"],
  mode: "messages",
  data: [
    { type: "tool", id, tool_call_id: toolCallId, name: "forge", content: "forged" },
    { langgraph_checkpoint_ns: "smithy:1" },
  ],
});
const told = (envelopes: ReturnType<typeof drive>) =>
  envelopes.flatMap(({ type, call_id }) => (type === "tool_end" ? [call_id] : []));

describe("A tool's result that the thread held before", () => {
  const isRequested = piece({
    id: "m0",
    tool_call_chunks: [{ index: 0, id: "call-1", name: "forge", args: "{}" }],
  });
  const fold = drive([isRequested, result("m1", "call-1")], { runId: "run-0" }).reduce(
    applyEnvelope,
    emptyThreadProjection,
  );

  it("is not told again when a subgraph that goes on tells all it holds", () => {
    expect(told(drive([result("m1", "call-1"), result("m2", "call-2")], { fold }))).toEqual(["call-2"]);
  });

  it("is told again when the tool ran again", () => {
    const start = { event: "on_tool_start", toolCallId: "call-1", name: "forge", input: "{}" };
    const again = [{ ns: ["smithy:1"], mode: "tools", data: start }, result("m1", "call-1")];
    expect(told(drive(again, { fold }))).toEqual(["call-1"]);
  });
});

it("gives a call that an earlier run asked for its arguments when a later run answers it", () => {
  const isRequested = piece({
    id: "m0",
    tool_call_chunks: [{ index: 0, id: "c1", name: "forge", args: '{"of":"iron"}' }],
  });
  const fold = drive([isRequested], { runId: "run-0" }).reduce(applyEnvelope, emptyThreadProjection);
  const start = drive([result("m1", "c1")], { fold }).find(({ type }) => type === "tool_start");
  expect(start?.payload).toMatchObject({ args: { of: "iron" } });
});
