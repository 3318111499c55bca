import { readGraphItem } from "@throughline/coerce";
import { applyEnvelope, emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agUi, drive } from "../testing/drive.js";
import { readItems } from "../testing/recording.js";
import { assertValidEvents } from "../testing/stock-client.js";

/** As it was recorded: one `ToolNode` runs three calls at once, each of a tool that runs the same subgraph. */
const envelopes = drive(
  readItems("captures/inproc.twins.jsonl").flatMap((item) => readGraphItem(item) ?? []),
);

describe("subagents of one tool node", () => {
  it("P85: are told apart by the tool call that runs each", () => {
    const started = envelopes.flatMap(({ type, payload }) =>
      type === "tool_start" && payload.kind === "subgraph" ? [payload] : [],
    );
    expect(
      started.map(({ tool_call_id, input }) => [
        tool_call_id,
        JSON.stringify(input).match(/"content":"(\w+)"/)?.[1],
      ]),
    ).toEqual([
      ["c2", "two"],
      ["c3", "three"],
      ["c1", "one"],
    ]);
    expect(new Set(started.map(({ subagent_id }) => subagent_id)).size).toBe(3);
  });

  it("each say what they said", () => {
    const { messages } = envelopes.reduce(applyEnvelope, emptyThreadProjection);
    const said = messages.flatMap(({ subagent_id, content }) =>
      subagent_id === undefined ? [] : [[subagent_id.split("|").at(-1), content]],
    );
    expect(said).toEqual([
      ["c2", "answer two"],
      ["c3", "answer three"],
      ["c1", "answer one"],
    ]);
  });

  it("end when their tool does, one by one", async () => {
    const events = agUi(envelopes, { line: "1.0", interrupts: "standard" });
    await assertValidEvents("1.0", events);
    const told = events.flatMap((event) =>
      event.type === "SUBAGENT_STARTED" || event.type === "SUBAGENT_FINISHED"
        ? [`${event.type} ${event.subagentRunId.split("|").at(-1)}`]
        : [],
    );
    expect(told).toEqual([
      "SUBAGENT_STARTED c2",
      "SUBAGENT_STARTED c3",
      "SUBAGENT_STARTED c1",
      "SUBAGENT_FINISHED c2",
      "SUBAGENT_FINISHED c3",
      "SUBAGENT_FINISHED c1",
    ]);
  });

  it("hang below their node, beside the calls that run them", () => {
    const { calls } = envelopes.reduce(applyEnvelope, emptyThreadProjection);
    const node = calls.find(({ name }) => name === "tools");
    expect(node?.kind).toBe("node");
    const subgraphs = calls.filter(({ kind }) => kind === "subgraph");
    expect(subgraphs.map(({ parent_id }) => parent_id)).toEqual(Array(3).fill(node?.call_id));
  });
});
