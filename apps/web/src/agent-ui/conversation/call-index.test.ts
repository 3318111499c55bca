import type { CallView } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { activePath, callIndex, countWork, failedStep, isPassing } from "./call-index";

const call = (callId: string, parentId: string | null, more: Partial<CallView> = {}): CallView => ({
  runId: "r1",
  callId,
  parentId,
  kind: "node",
  name: callId,
  attempt: 0,
  status: "ok",
  startedAt: 100,
  endedAt: 101,
  ...more,
});

const CALLS: readonly CallView[] = [
  call("r1", null, { kind: "run", status: "running", endedAt: null }),
  call("plan", "r1"),
  call("plan/llm/1", "plan", { kind: "model", messageId: "m1" }),
  call("scout", "r1", { kind: "subgraph", status: "running", endedAt: null, toolCallId: "t1" }),
  call("t1", "scout", { kind: "tool", name: "task", status: "running", endedAt: null }),
  call("scout|search", "scout", { status: "running", endedAt: null }),
];

describe("callIndex", () => {
  it("takes the subagent for the work behind a tool call, whichever was told first", () => {
    expect(callIndex(CALLS).workOfToolCall.get("t1")?.callId).toBe("scout");
    expect(callIndex(CALLS.toReversed()).workOfToolCall.get("t1")?.callId).toBe("scout");
  });

  it("is made once per list", () => {
    expect(callIndex(CALLS)).toBe(callIndex(CALLS));
  });
});

describe("work", () => {
  const index = callIndex(CALLS);
  const [run = call("", null)] = CALLS;

  it("under way is the path to what began last", () => {
    expect(activePath(run, index).map(({ name }) => name)).toEqual(["scout", "scout|search"]);
  });

  it("is counted at every depth", () => {
    expect(countWork(run, index)).toEqual({ run: 0, node: 2, subgraph: 1, model: 1, tool: 1 });
  });

  it("of a moment, with nothing inside, is passing; a failure never is", () => {
    const brief = call("brief", "r1", { endedAt: 100.01 });
    expect(isPassing(brief, callIndex([brief]))).toBe(true);
    expect(isPassing({ ...brief, status: "error" }, callIndex([brief]))).toBe(false);
    expect(isPassing({ ...brief, endedAt: 103 }, callIndex([brief]))).toBe(false);
  });
});

describe("failedStep", () => {
  const error = { status: "error" } as const;
  const calls = (run: Partial<CallView>) => [
    call("r1", null, { kind: "run", ...run }),
    call("plan", "r1"),
    call("scout", "r1", { kind: "subgraph", ...error }),
    call("scout|search", "scout", error),
  ];

  it("is the innermost work that failed", () => {
    const index = callIndex(calls(error));
    expect(index.run && failedStep(index.run, index)?.callId).toBe("scout|search");
  });

  it("is none of a run that got over it", () => {
    const index = callIndex(calls({}));
    expect(index.run && failedStep(index.run, index)).toBeUndefined();
  });
});
