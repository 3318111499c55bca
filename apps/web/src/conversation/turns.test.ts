import { type CallView, type MessageView, newId } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { callIndex } from "./call-index";
import { turnsOf } from "./turns";

const run = (runId: string, more: Partial<CallView> = {}): CallView => ({
  runId,
  callId: runId,
  parentId: null,
  kind: "run",
  name: "langgraph:poet",
  attempt: 0,
  status: "ok",
  startedAt: 100,
  endedAt: 101,
  startedBy: { kind: "client" },
  ...more,
});
const model = (runId: string, messageId: string): CallView => ({
  ...run(runId),
  kind: "model",
  callId: `${runId}/${messageId}`,
  parentId: runId,
  messageId,
});
const user = (id: string, more: Partial<MessageView> = {}): MessageView => ({
  id,
  role: "user",
  content: id,
  ...more,
});
const said = (id: string, more: Partial<MessageView> = {}): MessageView => ({
  id,
  role: "assistant",
  content: id,
  ...more,
});

const shape = (messages: readonly MessageView[], calls: readonly CallView[]) =>
  turnsOf(messages, callIndex(calls)).map(({ userId, runId, messageIds }) => [
    userId,
    runId,
    messageIds.join(),
  ]);

describe("turnsOf", () => {
  it("gives what a person said to the run that answers", () => {
    const calls = [run("r1"), model("r1", "a1"), run("r2"), model("r2", "a2")];
    expect(shape([user("u1"), said("a1"), user("u2"), said("a2")], calls)).toEqual([
      ["u1", "r1", "a1"],
      ["u2", "r2", "a2"],
    ]);
  });

  it("parts what two runs said without anybody having spoken between", () => {
    const calls = [
      run("r1"),
      model("r1", "a1"),
      run("r2", { startedBy: { kind: "cron" } }),
      model("r2", "a2"),
    ];
    expect(shape([said("a1"), said("a2")], calls)).toEqual([
      [undefined, "r1", "a1"],
      [undefined, "r2", "a2"],
    ]);
  });

  it("gives what no model said, behind a question, to the run of the answer", () => {
    const calls = [run("r1", { status: "interrupted" }), model("r1", "a1"), run("r2"), model("r2", "a2")];
    const turns = turnsOf([user("u1"), said("a1"), said("booked"), said("a2")], callIndex(calls));
    expect(turns.map(({ messageIds, isAnswer }) => [messageIds.join(), isAnswer])).toEqual([
      ["a1", false],
      ["booked,a2", true],
    ]);
  });

  it("leaves out a run that only brought the thread up to date, and keeps an outsider's that did something", () => {
    const outsider = { startedBy: { kind: "foreign" } } as const;
    expect(shape([user("u1")], [run("r1", outsider)])).toEqual([["u1", undefined, ""]]);
    const calls = [run("r1", outsider), model("r1", "a1")];
    expect(shape([said("a1")], calls)).toEqual([[undefined, "r1", "a1"]]);
  });

  it("gives a message without an answer to the run that failed on it", () => {
    expect(shape([user("u1")], [run("r1", { status: "error" })])).toEqual([["u1", "r1", ""]]);
  });

  it("puts a run that said nothing where it began", () => {
    const calls = [run("hire"), run("r1"), model("r1", "a1"), run("fire")];
    expect(shape([user("u1"), said("a1")], calls)).toEqual(
      [
        ["u1", "r1", "a1"],
        [undefined, "fire", ""],
      ].toSpliced(0, 0, [undefined, "hire", ""]),
    );
  });

  it("does not take a command for the answer to what was said long before", () => {
    const old = newId(1_000_000_000);
    const calls = [
      run("r1", { status: "error", startedAt: 1_000_000 }),
      run("hire", { startedAt: 1_009_000 }),
    ];
    expect(shape([user(old)], calls)).toEqual([
      [old, "r1", ""],
      [undefined, "hire", ""],
    ]);
  });

  it("keeps what is not sent behind everything that happened, with no run of its own", () => {
    expect(shape([user("u1", { local: "unsent" })], [run("cron", { startedBy: { kind: "cron" } })])).toEqual([
      [undefined, "cron", ""],
      ["u1", undefined, ""],
    ]);
  });

  it("shows neither a subagent's words nor a result that its call shows", () => {
    const messages = [
      user("u1"),
      said("a1", { toolCalls: [{ id: "t1", name: "clock", args: "{}" }] }),
      said("inner", { subagentRunId: "scout" }),
      { id: "res", role: "tool", content: "noon", toolCallId: "t1" } as const,
    ];
    expect(shape(messages, [run("r1"), model("r1", "a1")])).toEqual([["u1", "r1", "a1"]]);
  });

  it("shows messages of runs that the service has forgotten", () => {
    expect(shape([user("u1"), said("a1"), user("u2"), said("a2")], [])).toEqual([
      ["u1", undefined, "a1"],
      ["u2", undefined, "a2"],
    ]);
  });

  it("leaves out the runs in which the service itself tells of a change", () => {
    expect(shape([], [run("throughline:empty")])).toEqual([]);
  });
});
