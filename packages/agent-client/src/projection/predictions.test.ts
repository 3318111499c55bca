import { expect, it } from "vitest";
import type { AgentEvent } from "../wire/agent-event.js";
import { reduceEvent } from "./reduce-event.js";
import { emptyThreadView, messageById, type ThreadView } from "./thread-view.js";

const PREDICTS: AgentEvent = {
  type: "CUSTOM",
  name: "PredictState",
  value: [
    { state_key: "plan", tool: "write", tool_argument: "text" },
    { state_key: "other", tool: "not called", tool_argument: "text" },
  ],
};

function shown(...events: readonly AgentEvent[]): ThreadView {
  return events.reduce<ThreadView>((view, event) => reduceEvent(view, event) ?? view, emptyThreadView);
}

const called: readonly AgentEvent[] = [
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { type: "STATE_SNAPSHOT", snapshot: { plan: "old" } },
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "write", parentMessageId: "m" },
];

it("says which argument of which call will be the state, and what the state was before", () => {
  expect(shown(...called, PREDICTS).predictions).toEqual([
    { stateKey: "plan", messageId: "m", toolCallId: "c", argument: "text", base: "old" },
  ]);
});

it("takes all arguments together for the state where none is named, as the service tells it", () => {
  const value = [{ state_key: "plan", tool: "write", tool_argument: "" }];
  const { predictions } = shown(...called, { type: "CUSTOM", name: "PredictState", value });
  expect(predictions).toMatchObject([{ stateKey: "plan", argument: undefined }]);
});

it("keeps the newest call of a key, and keeps it when the run is told again", () => {
  const view = shown(
    ...called,
    PREDICTS,
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "write", parentMessageId: "m2" },
    PREDICTS,
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
  );
  expect(view.predictions.map(({ toolCallId }) => toolCallId)).toEqual(["c2"]);
});

it.each([
  ["its end", { type: "RUN_FINISHED", threadId: "t", runId: "r" }],
  ["another run", { type: "RUN_STARTED", threadId: "t", runId: "r2" }],
] as const)("holds for its run, until %s", (_, event) => {
  expect(shown(...called, PREDICTS, event).predictions).toEqual([]);
});

it("is known to a page that comes while the call is written", () => {
  const call = { id: "c", function: { name: "write", arguments: '{"text":"Fi' } };
  const view = shown(
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "STATE_SNAPSHOT", snapshot: { plan: "old" } },
    { type: "MESSAGES_SNAPSHOT", messages: [{ id: "m", role: "assistant", toolCalls: [call] }] },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "write", parentMessageId: "m" },
    PREDICTS,
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: 'rst."}' },
  );
  expect(view.predictions).toMatchObject([{ stateKey: "plan", toolCallId: "c", base: "old" }]);
  expect(messageById(view, "m")?.toolCalls?.[0]?.args).toBe('{"text":"First."}');
});

it("passes over what it can't read", () => {
  for (const value of [null, "x", [1], [{ state_key: 1 }]])
    expect(shown(...called, { type: "CUSTOM", name: "PredictState", value }).predictions).toEqual([]);
});
