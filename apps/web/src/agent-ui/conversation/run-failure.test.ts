import type { CallView } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { callIndex } from "./call-index";
import { failureText, runFailure } from "./failure";

const call = (callId: string, more: Partial<CallView>): CallView => ({
  runId: "r1",
  callId,
  parentId: "r1",
  kind: "node",
  name: callId,
  attempt: 0,
  status: "error",
  startedAt: 100,
  endedAt: 101,
  ...more,
});

const SAFE = {
  code: "run_failed",
  message: "The graph failed while it ran.",
  class: "node",
  node: "sum",
} as const;
const OWN = {
  name: "RangeError",
  message: "no numbers",
  stack: "RangeError: no numbers\n    at sum (sum.ts:1)",
};
const run = call("r1", { kind: "run", parentId: null, error: SAFE });
const only = callIndex([run]);

describe("runFailure", () => {
  it("is nothing of a run that did not fail", () => {
    expect(runFailure({ ...run, status: "ok" }, only, null)).toBeUndefined();
  });

  it("has node and class of any run, however long ago", () => {
    expect(runFailure(run, only, null)).toMatchObject({ node: "sum", class: "node", code: "run_failed" });
  });

  it("has the graph's own words of the last run", () => {
    expect(runFailure(run, only, { ...SAFE, own: OWN })).toEqual({ ...SAFE, ...OWN });
  });

  it("has them of an earlier run from the step that threw", () => {
    const step = call("sum", { error: { class: "node", node: "sum", ...OWN } });
    expect(runFailure(run, callIndex([run, step]), null)).toEqual({ ...SAFE, ...OWN });
  });
});

describe("failureWords", () => {
  it("name the node once", () => {
    expect(failureText(SAFE)).toBe("The run failed in node `sum`: The graph failed while it ran.");
    expect(failureText({ ...SAFE, message: "Poet failed in node `sum`." })).toBe(
      "The run failed: Poet failed in node `sum`.",
    );
  });

  it("have the graph's own error where it is known", () => {
    expect(failureText({ ...SAFE, ...OWN })).toBe("The run failed in node `sum`: RangeError: no numbers");
  });

  it("say that it failed where nothing else is known", () => {
    expect(failureText(undefined)).toBe("The run failed.");
  });
});
