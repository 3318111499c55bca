import type { CallView, ThreadRun } from "@throughline/agent-client";
import { expect, it } from "vitest";
import { pauseOf } from "./open-interrupts";

const run = (status: ThreadRun["status"]): ThreadRun => ({
  runId: "c",
  serviceRunId: "r",
  attempt: 0,
  status,
  error: null,
});
const call = (id?: string): CallView => ({
  runId: "r",
  callId: "r",
  parentId: null,
  kind: "run",
  name: "langgraph:letter",
  attempt: 0,
  status: "running",
  startedAt: 0,
  endedAt: null,
  startedBy: { kind: "client", ...(id !== undefined && { id }) },
});

it("is the run that paused, and stays while the state is edited", () => {
  expect(pauseOf({ run: run("interrupted"), calls: [call()] })).toBe("r");
  expect(pauseOf({ run: run("running"), calls: [call("edit_state")] })).toBe("r");
});

it("is over with a run that goes on, once that is known to be none that edits", () => {
  expect(pauseOf({ run: run("running"), calls: [] })).toBeNull();
  expect(pauseOf({ run: run("running"), calls: [call()] })).toBeUndefined();
  expect(pauseOf({ run: run("success"), calls: [call()] })).toBeUndefined();
  expect(pauseOf({ run: null, calls: [] })).toBeUndefined();
});
