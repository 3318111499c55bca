import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../wire/agent-event.js";
import { appendMessage, withMessages } from "./message-list.js";
import { reduceEvent } from "./reduce-event.js";
import { currentMessages, emptyThreadView, messageAt, messageById, type ThreadView } from "./thread-view.js";

function after(view: ThreadView, ...events: readonly AgentEvent[]): ThreadView {
  return events.reduce((now, event) => {
    const next = reduceEvent(now, event);
    if (!next) throw new Error(`${event.type} does not fit`);
    return next;
  }, view);
}

const begin: AgentEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const end: AgentEvent = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
function text(messageId: string, delta: string): AgentEvent {
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
}
function speak(messageId: string): AgentEvent {
  return { type: "TEXT_MESSAGE_START", messageId };
}
function call(toolCallId: string, parentMessageId?: string): AgentEvent {
  return {
    type: "TOOL_CALL_START",
    toolCallId,
    toolCallName: "look",
    ...(parentMessageId !== undefined && { parentMessageId }),
  };
}
function result(toolCallId: string): AgentEvent {
  return { type: "TOOL_CALL_RESULT", messageId: `${toolCallId}-result`, toolCallId, content: "found" };
}

const history = withMessages(
  { ...emptyThreadView, state: { plan: { steps: ["a", "b"] }, notes: { long: "text" } } },
  Array.from({ length: 50 }, (_, n) => ({ id: `old-${n}`, role: "user" as const, content: `${n}` })),
);

describe("what is shared", () => {
  it("a token changes the identity of the open list alone", () => {
    const before = after(history, begin, speak("m"), text("m", "Hel"));
    const next = after(before, text("m", "lo"));
    const { open, ...rest } = before;
    expect(next.open).not.toBe(open);
    for (const key of Object.keys(rest) as (keyof typeof rest)[]) expect(next[key]).toBe(before[key]);
    expect(messageById(next, "m")?.content).toBe("Hello");
    expect(messageById(before, "m")?.content).toBe("Hel");
  });

  it("a delta keeps the identity of everything beside its path", () => {
    const next = after(history, {
      type: "STATE_DELTA",
      delta: [{ op: "add", path: "/plan/steps/-", value: "c" }],
    });
    expect(next.state).toEqual({ plan: { steps: ["a", "b", "c"] }, notes: { long: "text" } });
    expect(next.state.notes).toBe(history.state.notes);
    expect(next.messages).toBe(history.messages);
    expect(history.state).toEqual({ plan: { steps: ["a", "b"] }, notes: { long: "text" } });
  });

  it("a snapshot keeps the identity of messages that are as they were", () => {
    const next = after(history, {
      type: "MESSAGES_SNAPSHOT",
      messages: history.messages.map(({ id, content }, n) => ({
        id,
        role: "user",
        content: n === 7 ? "changed" : content,
      })),
    });
    expect(next.messages.filter((message, n) => message !== history.messages[n])).toEqual([
      { id: "old-7", role: "user", content: "changed" },
    ]);
  });

  it("two views that grow from one do not see each other's messages", () => {
    const left = appendMessage(history, { id: "left", role: "user", content: "l" });
    const right = appendMessage(history, { id: "right", role: "user", content: "r" });
    expect(messageById(left, "right")).toBeUndefined();
    expect(messageById(right, "left")).toBeUndefined();
    expect(messageById(right, "right")?.content).toBe("r");
    expect(messageById(history, "left")).toBeUndefined();
    expect(messageById(emptyThreadView, "left")).toBeUndefined();
  });
});

describe("messages", () => {
  it("stream in their place and stay there when they end", () => {
    const open = after(history, begin, speak("m"), text("m", "Hi"));
    expect(messageAt(open, 50)?.content).toBe("Hi");
    expect(currentMessages(open).at(-1)?.content).toBe("Hi");
    const closed = after(open, { type: "TEXT_MESSAGE_END", messageId: "m" });
    expect(closed.open).toEqual([]);
    expect(closed.messages.at(-1)).toEqual({ id: "m", role: "assistant", content: "Hi", runId: "r" });
    expect(currentMessages(closed)).toBe(closed.messages);
  });

  it("say the run that brought them, under the service's own id: who spoke, who thought, who answered", () => {
    const view = after(
      emptyThreadView,
      {
        ...begin,
        input: { messages: [{ id: "u", role: "user", content: "Hello" }] },
        metadata: { throughline: { runId: "service-run" } },
      },
      { type: "REASONING_MESSAGE_START", messageId: "m/reasoning" },
      speak("m"),
      call("c", "m"),
      result("c"),
    );
    expect(currentMessages(view).map(({ id, runId }) => `${id} ${runId}`)).toEqual([
      "u service-run",
      "m/reasoning service-run",
      "m service-run",
      "c-result service-run",
    ]);
    const next = after(view, end, {
      ...begin,
      runId: "r2",
      input: { messages: [{ id: "u", role: "user" }] },
    });
    expect(messageById(next, "u")?.runId).toBe("service-run");
  });

  it("of a snapshot say the run that it names, and none where it names none", () => {
    const told = { throughline: { runId: "r1", status: "error" } };
    const view = after(
      emptyThreadView,
      { ...begin, metadata: { throughline: { runId: "throughline:1" } } },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "a", role: "user", content: "?" },
          { id: "b", role: "tool", content: "!", toolCallId: "c", metadata: told },
        ],
      },
      speak("m"),
    );
    expect(view.messages.map(({ runId }) => runId)).toEqual([undefined, "r1", undefined]);
    expect(view.messages[1]?.failed).toBe(true);
  });

  it("that are begun again after coming back go on where they were", () => {
    const view = after(
      emptyThreadView,
      begin,
      speak("m"),
      text("m", "Hel"),
      begin,
      speak("m"),
      text("m", "lo"),
    );
    expect(texts(view)).toEqual(["Hello"]);
  });

  it("of a text nobody began do not fit, nor do arguments of a call nobody made", () => {
    expect(reduceEvent(emptyThreadView, text("m", "?"))).toBeUndefined();
    expect(
      reduceEvent(emptyThreadView, { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" }),
    ).toBeUndefined();
  });

  it("hold their calls, whose arguments stream side by side", () => {
    const view = after(
      emptyThreadView,
      begin,
      call("c1", "m"),
      call("c2", "m"),
      { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: '{"b"' },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"a"' },
      { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: ":2}" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    );
    expect(view.open).toHaveLength(1);
    expect(messageById(view, "m")?.toolCalls?.map(({ args }) => args)).toEqual(['{"a"', '{"b":2}']);
    expect(after(view, { type: "TOOL_CALL_END", toolCallId: "c2" }).open).toEqual([]);
  });

  it("results stand behind the message that asked, in the order they came, and once", () => {
    const view = after(
      emptyThreadView,
      begin,
      call("c1", "m"),
      call("c2", "m"),
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      { type: "TOOL_CALL_END", toolCallId: "c2" },
      speak("later"),
      result("c2"),
      result("c1"),
      result("c1"),
    );
    expect(view.messages.map(({ id }) => id)).toEqual(["m", "c2-result", "c1-result", "later"]);
    expect(texts(after(view, text("later", "still open"))).at(-1)).toBe("still open");
  });

  it("a snapshot takes back what it does not hold", () => {
    const view = after(
      emptyThreadView,
      begin,
      speak("kept"),
      text("kept", "a"),
      { type: "TEXT_MESSAGE_END", messageId: "kept" },
      speak("lost"),
      text("lost", "b"),
      { type: "MESSAGES_SNAPSHOT", messages: [{ id: "kept", role: "assistant", content: "a" }] },
    );
    expect(texts(view)).toEqual(["a"]);
    expect(view.open).toEqual([]);
  });
});

describe("runs", () => {
  it("close all that is open when they end, and say how they ended", () => {
    const open = after(
      emptyThreadView,
      begin,
      { type: "STEP_STARTED", stepName: "s" },
      speak("m"),
      text("m", "half"),
    );
    const done = after(open, end);
    expect(done).toMatchObject({ open: [], steps: [], run: { status: "success", error: null } });
    expect(texts(done)).toEqual(["half"]);
    expect(after(open, { ...end, outcome: { type: "cancelled" } }).run?.status).toBe("cancelled");
    const failed = after(open, { type: "RUN_ERROR", code: "run_lost", message: "Gone." });
    expect(failed.run).toMatchObject({ status: "error", error: { code: "run_lost", message: "Gone." } });
  });

  it("that failed or were stopped are shown so to whoever comes later", () => {
    const error = { code: "run_failed", message: "It failed." };
    const told = (lastRun: object) => ({ ...end, metadata: { throughline: { status: "success", lastRun } } });
    const failed = after(emptyThreadView, begin, told({ status: "error", error }) as AgentEvent);
    expect(failed.run).toMatchObject({ status: "error", error });
    const stopped = after(emptyThreadView, begin, told({ status: "cancelled" }) as AgentEvent);
    expect(stopped.run).toMatchObject({ status: "cancelled", error: null });
  });

  it("that failed are shown alike to a viewer that saw it and to one that comes later, with all that is told of the failure", () => {
    const origin = {
      class: "node",
      node: "talk",
      ns: ["talk:1"],
      own: { name: "TypeError", message: "x is not a function" },
    } as const;
    const error = { code: "run_failed", message: "It failed.", ...origin };
    const saw = after(emptyThreadView, begin, {
      type: "RUN_ERROR",
      code: error.code,
      message: error.message,
      metadata: { throughline: { status: "error", ...origin } },
    });
    const lastRun = { status: "error", error } as const;
    const late = after(emptyThreadView, begin, {
      ...end,
      metadata: { throughline: { status: "success", lastRun } },
    });
    expect(saw.run?.error).toEqual(error);
    expect(late.run).toEqual(saw.run);
  });

  it("ask with interrupts until a run begins that is not of the service's own making", () => {
    const asking = after(emptyThreadView, begin, {
      ...end,
      outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "approve" }] },
    });
    expect(asking).toMatchObject({ run: { status: "interrupted" }, interrupts: [{ id: "i" }] });
    expect(after(asking, { ...begin, runId: "throughline:state" }).interrupts).toHaveLength(1);
    expect(after(asking, { ...begin, runId: "next" }).interrupts).toEqual([]);
  });

  it("steps that ended unseen are not shown: those that are open are told again", () => {
    const cut = after(emptyThreadView, begin, { type: "STEP_STARTED", stepName: "missed" });
    expect(after(cut, begin, { type: "STEP_STARTED", stepName: "now" }).steps).toEqual(["now"]);
  });

  it("a poll says which one is open, and its own end ends nothing", () => {
    const asked: AgentEvent = {
      type: "RUN_STARTED",
      threadId: "t",
      runId: "poll-1",
      metadata: { throughline: { poll: true, activeRunId: "server-run" } },
    };
    const view = after(emptyThreadView, asked, { ...end, runId: "poll-1" });
    expect(view.run).toMatchObject({ serviceRunId: "server-run", status: "running" });
    const idle = after(view, { ...asked, metadata: { throughline: { poll: true, activeRunId: null } } });
    expect(idle.run).toMatchObject({ serviceRunId: "server-run", status: "success" });
  });

  it("what nobody here knows is passed over", () => {
    const event: AgentEvent = { type: "CUSTOM", name: "somebody.elses", value: { a: 1 } };
    expect(reduceEvent(history, event)).toBe(history);
  });
});

describe("calls", () => {
  function told(whole: boolean, ...ids: readonly string[]): AgentEvent {
    const calls = ids.map((callId) => ({ runId: "r", callId, status: whole ? "running" : "ok" }));
    return { type: "CUSTOM", name: "throughline.calls", value: { whole, calls } };
  }

  it("are replaced as a whole, or one by one", () => {
    const view = after(emptyThreadView, told(true, "a", "b"), told(false, "b", "c"));
    expect(view.calls.map(({ callId, status }) => `${callId} ${status}`)).toEqual([
      "a running",
      "b ok",
      "c ok",
    ]);
    expect(after(view, told(true, "z")).calls).toHaveLength(1);
  });

  it("stay until the service says that they are gone, and then go with all below them", () => {
    const calls = [
      { runId: "r", callId: "r", parentId: null },
      { runId: "r", callId: "a", parentId: "r" },
      { runId: "r", callId: "b", parentId: "a" },
      { runId: "r", callId: "c", parentId: "b" },
      { runId: "r", callId: "d", parentId: "r" },
      { runId: "other", callId: "a", parentId: "other" },
    ];
    const name = "throughline.calls";
    const counted = { runId: "r", callId: "r", parentId: null, earlier: 3 };
    const view = after(
      emptyThreadView,
      { type: "CUSTOM", name, value: { whole: true, calls } },
      {
        type: "CUSTOM",
        name,
        value: { whole: false, calls: [counted], gone: [{ runId: "r", callId: "a" }] },
      },
    );
    expect(view.calls.map(({ runId, callId }) => `${runId} ${callId}`)).toEqual(["r r", "r d", "other a"]);
    expect(view.calls[0]?.earlier).toBe(3);
  });

  it("of a long run all stay while the service keeps them", () => {
    const ids = Array.from({ length: 250 }, (_, n) => `c${n}`);
    expect(after(emptyThreadView, told(false, ...ids)).calls).toHaveLength(250);
  });
});

describe("what a run used", () => {
  const used = { input_tokens: 3, output_tokens: 2, total_tokens: 5, model_calls: 2, cost_usd: 0.5 };
  const ended = (usage: typeof used & { complete?: boolean }) =>
    after(emptyThreadView, begin, { ...end, metadata: { throughline: { status: "success", usage } } }).usage;

  it("is complete unless the service says that a call has no price yet", () => {
    expect(ended(used)).toMatchObject({ totalTokens: 5, costUsd: 0.5, isComplete: true });
    expect(ended({ ...used, complete: true })?.isComplete).toBe(true);
    expect(ended({ ...used, complete: false })).toMatchObject({ costUsd: 0.5, isComplete: false });
  });
});

function texts(view: ThreadView) {
  return currentMessages(view).map(({ content }) => content);
}

describe("a poll", () => {
  const poll = (facts: object): AgentEvent => ({
    type: "RUN_STARTED",
    threadId: "t",
    runId: "p",
    metadata: { throughline: { poll: true, ...facts } },
  });

  it("says which run is open, and of an idle thread how its last one ended", () => {
    const open = reduceEvent(
      emptyThreadView,
      poll({ activeRunId: "r1", lastRun: { runId: "r1", status: "running" } }),
    );
    expect(open?.run).toMatchObject({ serviceRunId: "r1", status: "running" });
    const asked =
      open && reduceEvent(open, poll({ activeRunId: null, lastRun: { runId: "r1", status: "interrupted" } }));
    expect(asked?.run).toMatchObject({ serviceRunId: "r1", status: "interrupted" });
    const answered =
      asked && reduceEvent(asked, poll({ activeRunId: null, lastRun: { runId: "r2", status: "success" } }));
    expect(answered?.run).toMatchObject({ serviceRunId: "r2", status: "success" });
    const same =
      answered &&
      reduceEvent(answered, poll({ activeRunId: null, lastRun: { runId: "r2", status: "success" } }));
    expect(same).toBe(answered);
  });
});
