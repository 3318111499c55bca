import type { CallView } from "@throughline/agent-client";
import { expect, it } from "vitest";
import { callsByRun, changedRuns } from "./calls-by-run";

const call = (runId: string, callId: string, more: Partial<CallView> = {}): CallView => ({
  runId,
  callId,
  parentId: callId === runId ? null : runId,
  kind: callId === runId ? "run" : "node",
  name: callId,
  attempt: 0,
  status: "ok",
  startedAt: 100,
  endedAt: 101,
  ...more,
});

const [first, second] = [call("r1", "r1"), call("r2", "r2")];

it("tells twins of two runs apart, and keeps runs in the order they began", () => {
  const [plan, twin] = [call("r1", "plan"), call("r2", "plan")];
  expect([...callsByRun([first, second, plan, twin])]).toEqual([
    ["r1", [first, plan]],
    ["r2", [second, twin]],
  ]);
});

it("keeps the list of a run in which nothing changed", () => {
  const before = callsByRun([first, second]);
  const now = callsByRun([first, { ...second, status: "running" }], before);
  expect(now.get("r1")).toBe(before.get("r1"));
  expect(now.get("r2")).not.toBe(before.get("r2"));
});

it("names the runs that came, changed and went, and the tool calls made in them", () => {
  const tool = call("r2", "t1", { kind: "tool" });
  const agent = call("r2", "scout", { kind: "subgraph", toolCallId: "t2" });
  const before = callsByRun([call("r0", "r0"), first, second]);
  const now = callsByRun([first, second, tool, agent, call("r3", "r3")], before);
  expect(new Set(changedRuns(before, now))).toEqual(new Set(["r0", "r2", "r3", "t1", "t2"]));
  expect(changedRuns(now, now)).toEqual([]);
});
