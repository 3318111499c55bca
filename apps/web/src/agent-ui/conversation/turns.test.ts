import type { CallView, ThreadMessage } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { callsByRun } from "./stable-thread";
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
const inRun = (runId: string | undefined) => (runId === undefined ? {} : { runId });
const user = (id: string, runId?: string, more: Partial<ThreadMessage> = {}): ThreadMessage => ({
  id,
  role: "user",
  content: id,
  ...inRun(runId),
  ...more,
});
const said = (id: string, runId?: string, more: Partial<ThreadMessage> = {}): ThreadMessage => ({
  id,
  role: "assistant",
  content: id,
  ...inRun(runId),
  ...more,
});

const shape = (messages: readonly ThreadMessage[], calls: readonly CallView[]) =>
  turnsOf(messages, callsByRun(calls)).map(({ userId, runId, messageIds }) => [
    userId,
    runId,
    messageIds.join(),
  ]);

describe("turnsOf", () => {
  it("gives what a person said, and what was answered, to the run that says so", () => {
    const messages = [user("u1", "r1"), said("a1", "r1"), user("u2", "r2"), said("a2", "r2")];
    expect(shape(messages, [run("r1"), run("r2")])).toEqual([
      ["u1", "r1", "a1"],
      ["u2", "r2", "a2"],
    ]);
  });

  it("keeps the turns of runs that the service no longer holds, before those that it does", () => {
    const messages = [
      user("u1", "gone"),
      said("a1", "gone"),
      said("a2", "gone too"),
      user("u3", "r3"),
      said("a3", "r3"),
    ];
    const command = run("silent");
    expect(shape(messages, [command, run("r3"), model("r3", "a3")])).toEqual([
      ["u1", "gone", "a1"],
      [undefined, "gone too", "a2"],
      [undefined, "silent", ""],
      ["u3", "r3", "a3"],
    ]);
  });

  it("parts what two runs said without anybody having spoken between", () => {
    const calls = [run("r1"), run("r2", { startedBy: { kind: "cron" } })];
    expect(shape([said("a1", "r1"), said("a2", "r2")], calls)).toEqual([
      [undefined, "r1", "a1"],
      [undefined, "r2", "a2"],
    ]);
  });

  it("begins a turn of its own with what an answer led to", () => {
    const calls = [run("r1", { status: "interrupted" }), run("r2")];
    const messages = [user("u1", "r1"), said("a1", "r1"), said("booked", "r2"), said("a2", "r2")];
    const turns = turnsOf(messages, callsByRun(calls));
    expect(turns.map(({ messageIds, isResponse }) => [messageIds.join(), isResponse])).toEqual([
      ["a1", false],
      ["booked,a2", true],
    ]);
  });

  it("leaves out a run that only brought the thread up to date, and keeps an outsider's that did something", () => {
    const outsider = { startedBy: { kind: "foreign" } } as const;
    expect(shape([user("u1"), said("a1")], [run("r1", outsider)])).toEqual([["u1", undefined, "a1"]]);
    const calls = [run("r1", outsider), model("r1", "a1")];
    expect(shape([said("a1", "r1")], calls)).toEqual([[undefined, "r1", "a1"]]);
  });

  it("parts what passed unwatched from the run before it", () => {
    expect(shape([user("u1", "r1"), said("a1", "r1"), said("later")], [run("r1")])).toEqual([
      ["u1", "r1", "a1"],
      [undefined, undefined, "later"],
    ]);
  });

  it("shows a failed run and the one that tried again each by itself", () => {
    const calls = [run("r1", { status: "error" }), run("r2")];
    expect(shape([user("u1", "r1"), said("a1", "r2")], calls)).toEqual([
      ["u1", "r1", ""],
      [undefined, "r2", "a1"],
    ]);
  });

  it("shows a run once, behind all that was said to it", () => {
    expect(shape([user("u1", "r1"), user("u2", "r1"), said("a1", "r1")], [run("r1")])).toEqual([
      ["u1", undefined, ""],
      ["u2", "r1", "a1"],
    ]);
  });

  it("puts a run that said nothing where it began", () => {
    const calls = [run("hire"), run("r1"), run("fire")];
    expect(shape([user("u1", "r1"), said("a1", "r1")], calls)).toEqual([
      [undefined, "hire", ""],
      ["u1", "r1", "a1"],
      [undefined, "fire", ""],
    ]);
  });

  it("keeps what is not sent behind everything that happened, with no run of its own", () => {
    const unsent = user("u1", undefined, { local: "unsent" });
    expect(shape([unsent], [run("cron", { startedBy: { kind: "cron" } })])).toEqual([
      [undefined, "cron", ""],
      ["u1", undefined, ""],
    ]);
  });

  it("shows neither a subagent's words nor a result that its call shows", () => {
    const messages = [
      user("u1", "r1"),
      said("a1", "r1", { toolCalls: [{ id: "t1", name: "clock", args: "{}" }] }),
      said("inner", "r1", { subagentRunId: "scout" }),
      { id: "res", role: "tool", content: "noon", toolCallId: "t1", runId: "r1" } as const,
    ];
    expect(shape(messages, [run("r1")])).toEqual([["u1", "r1", "a1"]]);
  });

  it("shows messages of runs that the service has forgotten", () => {
    expect(shape([user("u1"), said("a1"), user("u2", "r2"), said("a2", "r2")], [])).toEqual([
      ["u1", undefined, "a1"],
      ["u2", "r2", "a2"],
    ]);
  });

  it("leaves out the runs in which the service itself tells of a change", () => {
    expect(shape([], [run("throughline:empty")])).toEqual([]);
  });
});
