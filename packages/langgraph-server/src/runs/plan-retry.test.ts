import type { GraphCheckpoint, Message } from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import type { RunRequest } from "../threads/run-spec.js";
import { type FailedRun, planRetry } from "./retry-run.js";

const asked: Message = { id: "m1", role: "user", content: "Go" };
const input = { messages: [asked] };

function failed(status: RunRecord["status"], request: Partial<RunRequest> = {}): RunRecord {
  return {
    thread: { account: "acme", threadId: "t" },
    runId: "r2",
    alias: undefined,
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    status,
    start: undefined,
    request: JSON.parse(
      JSON.stringify({
        work: "graph",
        stateKey: "chat/t",
        ingressRequestId: "i",
        caller: { billingAccountId: "acme", virtualKeyId: "k", traceId: "t" },
        model: "small",
        config: { recursion_limit: 40 },
        tools: [],
        context: [],
        profile: "user",
        ...request,
      }),
    ),
    attempt: 0,
    crashes: 0,
    owner: undefined,
    token: 1n,
    leaseUntil: undefined,
    upstreamRunId: undefined,
    stopRequested: false,
    createdAt: 0,
    endedAt: 1,
  };
}

function checkpoint(more: Partial<GraphCheckpoint> = {}): GraphCheckpoint {
  return {
    checkpointId: "c",
    runId: "r2",
    state: {},
    messages: [asked],
    next: ["agent"],
    interrupts: [],
    ...more,
  };
}

const plan = (more: Partial<FailedRun> = {}) =>
  planRetry({ run: failed("error"), input, checkpoint: checkpoint(), ...more });

describe("A run that failed is tried again", () => {
  it.each(["error", "lost", "cancelled"] as const)(
    "from its own checkpoint after it ended as %s",
    (status) => {
      expect(plan({ run: failed(status) })).toEqual({
        input: { kind: "resume", answers: {} },
        command: undefined,
        priorModel: "small",
        config: { recursion_limit: 40 },
      });
    },
  );

  it("with what it was given where it stored nothing", () => {
    for (const before of [undefined, checkpoint({ runId: "r1", messages: [], next: [] })]) {
      expect(plan({ checkpoint: before }).input).toEqual({ kind: "input", messages: [asked], isAgain: true });
    }
  });

  it("without messages that the thread has stored after all", () => {
    const other = checkpoint({ runId: "r1", next: [] });
    const state = { draft: "x" };
    expect(plan({ checkpoint: other, input: { ...input, state } }).input).toEqual({
      kind: "input",
      messages: [],
      state,
      isAgain: true,
    });
  });

  it("with its command, whatever it stored", () => {
    const command = { name: "cycle", args: {} };
    expect(plan({ run: failed("error", { command }), input: { messages: [] } })).toMatchObject({
      command,
      input: { kind: "input", messages: [] },
    });
  });

  it("from the checkpoint that it went back to", () => {
    const run = failed("error", { checkpointId: "past" });
    expect(plan({ run, input: { messages: [] }, checkpoint: checkpoint({ runId: "r1" }) }).input).toEqual({
      kind: "fork",
      checkpointId: "past",
      messages: [],
    });
  });

  it("from where an earlier run left the thread, if it answered and stored nothing", () => {
    const stored = checkpoint({ runId: "r1" });
    expect(plan({ input: { messages: [] }, checkpoint: stored }).input).toEqual({
      kind: "resume",
      answers: {},
    });
  });
});

describe("There is nothing to try again", () => {
  it.each([
    ["where the last run did not fail", { run: failed("success") }, "did not fail"],
    ["where the graph had ended", { checkpoint: checkpoint({ next: [] }) }, "come to its end"],
    ["where nothing is known of it", { input: undefined, checkpoint: undefined }, "no longer known"],
  ] as const)("%s", (_, more, words) => {
    expect(() => plan(more)).toThrow(
      expect.objectContaining({ code: "conflict", message: expect.stringContaining(words) }),
    );
  });
});
