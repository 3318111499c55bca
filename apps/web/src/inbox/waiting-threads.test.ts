import { describe, expect, it } from "vitest";
import type { WaitingInterrupt } from "../data/thread-lists";
import { waitingThreads } from "./waiting-threads";

const CALL = {
  action_requests: [{ name: "pay", args: { amount: 1 } }],
  review_configs: [{ action_name: "pay", allowed_decisions: ["approve", "reject"] }],
};

function waiting(
  threadName: string,
  value: WaitingInterrupt["interrupt"] | string | object,
): WaitingInterrupt {
  return {
    agentId: "a",
    threadName,
    visibility: undefined,
    title: threadName,
    runId: "r",
    askedAt: 1,
    interrupt: {
      interrupt_id: `${threadName} ${JSON.stringify(value)}`,
      value: JSON.parse(JSON.stringify(value)),
    },
  };
}

describe("Threads that wait", () => {
  it("stand in the order they came, each with all that it asks together", () => {
    const threads = waitingThreads([
      waiting("one", "Where?"),
      waiting("two", "Why?"),
      waiting("one", "Who?"),
    ]);
    expect(
      threads.map(({ title, questions }) => [title, questions.map(({ question }) => question.message)]),
    ).toEqual([
      ["one", ["Where?", "Who?"]],
      ["two", ["Why?"]],
    ]);
  });

  it("tell a private and a shared one of the same name apart", () => {
    const shared: WaitingInterrupt = { ...waiting("one", "Where?"), visibility: "account" };
    expect(waitingThreads([waiting("one", "Where?"), shared])).toHaveLength(2);
  });

  it("can be approved with others only where all they ask is approval", () => {
    const pause: WaitingInterrupt = { ...waiting("pause", ""), interrupt: null };
    const threads = waitingThreads([
      waiting("calls", CALL),
      waiting("mixed", CALL),
      waiting("mixed", "Why?"),
      pause,
    ]);
    expect(threads.map(({ approvals }) => approvals && Object.values(approvals))).toEqual([
      [{ decisions: [{ type: "approve" }] }],
      undefined,
      undefined,
    ]);
    expect(threads[2]?.questions).toEqual([]);
  });

  it("know until when a question may be answered", () => {
    const [thread] = waitingThreads([
      waiting("late", { message: "Now?", expires_at: "1970-01-01T00:00:01Z" }),
    ]);
    expect(thread?.questions[0]?.expiresAt).toBe(1_000);
  });
});
