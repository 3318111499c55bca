import type { AgUiFrame } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { createFrameSteps, printFrame, showRefusal } from "./reduce-frame.js";

import { emptyTranscript, type Transcript, type TranscriptOptions } from "./transcript.js";

let place = 0;
/** Frames of the log have an id, those of a prelude have none. */
const live = (event: object): AgUiFrame => {
  place += 1;
  return frameOf({ id: `1.${place}.0.1sc`, event });
};
const prelude = (event: object): AgUiFrame => frameOf({ event });

/** Tests write events as they come off the wire. */
function frameOf(frame: { readonly id?: string; readonly event: object }): AgUiFrame {
  return JSON.parse(JSON.stringify(frame));
}

function show(
  frames: readonly AgUiFrame[],
  options: Partial<TranscriptOptions> = {},
): { readonly state: Transcript; readonly text: string } {
  let state = emptyTranscript({ showsInput: true, history: 20, ...options });
  let text = "";
  for (const step of createFrameSteps()(frames)) {
    const [next, spans] = printFrame(state, step);
    state = next;
    text += spans.map((span) => span.text).join("");
  }
  return { state, text };
}

const started = { type: "RUN_STARTED", runId: "r1" };
const finished = { type: "RUN_FINISHED", runId: "r1" };
const start = (messageId: string) => ({ type: "TEXT_MESSAGE_START", messageId });
const say = (messageId: string, delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
const end = (messageId: string) => ({ type: "TEXT_MESSAGE_END", messageId });
const snapshot = (...messages: readonly object[]) => ({ type: "MESSAGES_SNAPSHOT", messages });
const user = (id: string, content: string) => ({ id, role: "user", content });
const assistant = (id: string, content: string) => ({ id, role: "assistant", content });
const calls = (...told: readonly object[]) => ({
  type: "CUSTOM",
  name: "throughline.calls",
  value: { whole: false, calls: told.map((call) => ({ ...NODE, ...call })) },
});
const NODE = { runId: "r1", parentId: null, kind: "node", name: "node", attempt: 0, status: "running" };

describe("a transcript", () => {
  it("says what a run cost, and that a call has no price yet", () => {
    const used = { input_tokens: 3, output_tokens: 2, total_tokens: 5, model_calls: 2, cost_usd: 0.5 };
    const ended = (usage: object) =>
      show([live(started), live({ ...finished, metadata: { throughline: { status: "success", usage } } })])
        .text;
    expect(ended(used)).toContain("2 model calls, 3 tokens in, 2 out, $0.5000\n");
    expect(ended({ ...used, complete: true })).toContain("2 out, $0.5000\n");
    expect(ended({ ...used, complete: false })).toContain("$0.5000 and calls without a price yet\n");
  });

  it("names a file and where it can be fetched, whoever it comes from", () => {
    const file = { type: "url", value: "https://a.example/files/1" };
    const said = {
      id: "u",
      role: "user",
      content: [{ type: "image", source: file, metadata: { filename: "cat.png" } }],
    };
    const { text } = show([
      live({ ...started, input: { messages: [said] } }),
      live(start("a")),
      live(say("a", "Mine:")),
      live(say("a", "\n\n![image/png](https://a.example/files/2)\n\n")),
      live(end("a")),
      live(finished),
    ]);
    expect(text).toContain("[cat.png](https://a.example/files/1)");
    expect(text).toContain("![image/png](https://a.example/files/2)");
  });

  it("shows the oldest open text live, and the others whole when their turn comes", () => {
    const inputs = [
      started,
      start("a"),
      start("b"),
      say("a", "one"),
      say("b", "two"),
      end("b"),
      say("a", "!"),
    ].map(live);
    expect(show(inputs).text).toBe("one!");
    expect(show([...inputs, live(end("a"))]).text).toBe("one!\ntwo\n");
  });

  it("names the nodes above a text once, and again after another node spoke", () => {
    const inputs = [
      started,
      calls({ callId: "n1", name: "outer" }, { callId: "n2", name: "inner", parentId: "n1" }),
      calls({ callId: "m1", kind: "model", parentId: "n2", messageId: "a" }),
      start("a"),
      say("a", "deep\ndown"),
      end("a"),
      calls({ callId: "n3", name: "other" }, { callId: "m2", kind: "model", parentId: "n3", messageId: "b" }),
      start("b"),
      say("b", "beside"),
      end("b"),
    ].map(live);
    expect(show(inputs).text).toBe("▸ outer\n  ▸ inner\n    deep\n    down\n▸ other\n  beside\n");
  });

  it("shows each value of the state that changes while a run is open, and not how it was before", () => {
    const state = (snapshot: object) => ({ type: "STATE_SNAPSHOT", snapshot });
    const todo = (status: string) => ({ content: "Look", status });
    const first = { messages: [], todos: [todo("pending")], files: { "/a.md": "one" } };
    const second = { ...first, todos: [todo("completed")], files: { "/a.md": "one", "/b.md": "two" } };
    const { text } = show([
      prelude(state({ topic: "old" })),
      live(started),
      live(state({ topic: "old", todos: [], files: {} })),
      live(state({ topic: "old", ...first })),
      live(state({ topic: "old", ...first })),
      live(state(second)),
      live(finished),
    ]);
    expect(text.split("\n")).toEqual([
      '∆ todos: [{"content":"Look","status":"pending"}]',
      "∆ files /a.md: one",
      '∆ todos: [{"content":"Look","status":"completed"}]',
      "∆ files /b.md: two",
      "∆ topic: removed",
      "",
    ]);
  });

  it("goes on in the same line when it comes back with a cursor", () => {
    const before = [live(started), live(start("a")), live(say("a", "half of "))];
    const after = [
      prelude(started),
      prelude(start("a")),
      live(say("a", "a line")),
      live(end("a")),
      live(finished),
    ];
    expect(show([...before, ...after]).text).toBe("half of a line\n");
  });

  it("prints only what is new when everything is told again", () => {
    const before = [live(started), live(start("a")), live(say("a", "half "))];
    const whole = snapshot(user("u", "hi"), assistant("a", "half of a"));
    const after = [
      prelude(started),
      prelude(whole),
      prelude(start("a")),
      live(say("a", " line")),
      live(end("a")),
    ];
    expect(show([...before, ...after]).text).toBe("half of a line\n› hi\n");
  });

  it("finishes the line of a message that it came upon half-way", () => {
    const arrival = [prelude(started), prelude(snapshot(user("u", "hi"), assistant("a", "half ")))];
    const rest = [prelude(start("a")), live(say("a", "of it")), live(end("a")), live(finished)];
    expect(show([...arrival, ...rest]).text).toBe("› hi\nhalf of it\n");
  });

  it("shows the last messages on arrival, and says how many came before", () => {
    const messages = snapshot(user("1", "a"), assistant("2", "b"), user("3", "c"), assistant("4", "d"));
    const idle = [prelude(started), prelude(messages), live(finished)];
    expect(show(idle, { history: 2 }).text).toBe("… 2 earlier messages\n› c\nd\n");
    expect(show(idle, { history: 0 }).text).toBe("");
  });

  it("does not call the standing of an idle thread the end of a run", () => {
    const idle = { ...finished, metadata: { throughline: { status: "cancelled" } } };
    expect(show([prelude(started), live(idle)]).text).toBe("");
    expect(show([live(started), live(idle)]).text).toBe("■ stopped\n");
  });

  it("says so when words of a crashed attempt are taken back, and shows those that take their place", () => {
    const inputs = [
      started,
      start("a"),
      say("a", "lost"),
      snapshot(user("u", "hi")),
      start("a"),
      say("a", "found"),
      end("a"),
    ];
    expect(show(inputs.map(live)).text).toBe("lost\n↺ What was said last was not kept.\n› hi\nfound\n");
  });

  it("quotes what a node said to itself, which the conversation does not keep", () => {
    const inputs = [
      started,
      start("route"),
      say("route", `{ "route": "sums", "why": "${"numbers ".repeat(9)}" }`),
      end("route"),
      start("a"),
      say("a", "Four."),
      end("a"),
      snapshot(user("u", "hi"), assistant("a", "Four.")),
    ];
    const { text } = show(inputs.map(live));
    expect(text).toContain(
      '\nFour.\n↺ Not kept: { "route": "sums", "why": "numbers numbers numbers numbers n…\n',
    );
  });

  it("names what started a run, and that another server took it up", () => {
    const run = {
      callId: "r1",
      kind: "run",
      name: "langgraph:poet",
      startedBy: { kind: "cron", id: "nightly" },
    };
    const inputs = [started, calls(run), calls({ ...run, attempt: 1 })].map(live);
    expect(show(inputs).text).toBe("◆ started by cron nightly\n↻ Its server was lost; the run goes on.\n");
  });

  it("tells a tool's call when its arguments are whole, its progress and its result", () => {
    const inputs = [
      { type: "TOOL_CALL_START", toolCallId: "t", toolCallName: "add" },
      { type: "TOOL_CALL_ARGS", toolCallId: "t", delta: '{"a":' },
      { type: "TOOL_CALL_ARGS", toolCallId: "t", delta: "1}" },
      { type: "TOOL_CALL_END", toolCallId: "t" },
      {
        type: "CUSTOM",
        name: "throughline.tool_update",
        value: { toolCallId: "t", toolName: "add", data: { step: 1, of: 2 } },
      },
      { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "t", content: "two\nlines" },
    ];
    expect(show([started, ...inputs].map(live)).text).toBe('→ add {"a":1}\n• add: 1/2\n← add: two lines\n');
  });

  it("keeps open questions until a run begins", () => {
    const raw = { message: "Which?", options: ["red", "blue"], recommendation: "blue" };
    const asks = {
      ...finished,
      outcome: { type: "interrupt", interrupts: [{ id: "i1", metadata: { langgraph: { raw } } }] },
    };
    const asked = show([live(started), live(asks)]);
    expect(asked.text).toBe("? Which?\n  1. red\n  2. blue (recommended)\n");
    expect(asked.state.questions).toMatchObject([{ interruptId: "i1", asked: { kind: "options" } }]);
    expect(asked.state.ending).toEqual({ status: "interrupted" });
    expect(show([live(started), live(asks), live({ ...started, runId: "r2" })]).state.questions).toEqual([]);
  });

  it("shows a refusal with what to do about it", () => {
    const { state } = show([prelude(started), live(finished)]);
    const [, spans] = showRefusal(state, { code: "busy", message: "Busy." });
    expect(spans.map(({ text }) => text).join("")).toBe(
      "✗ Busy. Wait for the active run, stop it, or ask to be enqueued.\n",
    );
  });

  it("never lets a model's text command the terminal", () => {
    const inputs = [started, start("a"), say("a", "\u001b[2Jred\u0007\r\n\ttab \u202eevil"), end("a")].map(
      live,
    );
    expect(show(inputs).text).toBe("[2Jred\n\ttab evil\n");
  });

  it("says to who joins a long run how many of its calls are no longer kept, once", () => {
    const run = { callId: "r1", kind: "run", earlier: 312 };
    const joined = [prelude(started), prelude(calls(run))];
    expect(show(joined).text).toBe("… 312 earlier calls\n");
    expect(show([...joined, ...joined]).text).toBe("… 312 earlier calls\n");
  });

  it("tells a frame once that comes twice, and nothing behind one that does not fit", () => {
    const said = live(say("a", "once"));
    expect(show([live(started), live(start("a")), said, said, live(end("a"))]).text).toBe("once\n");
    expect(show([live(started), live(say("b", "of nothing")), live(finished)]).text).toBe("");
  });

  it("names the node that failed, or what in it did, and where it was thrown if the service tells that", () => {
    const failed = (message: string, more: object = {}) => ({
      type: "RUN_ERROR",
      message,
      code: "run_failed",
      metadata: { throughline: { node: "plan", class: "node", ...more } },
    });
    expect(show([live(started), live(failed("The graph failed while it ran."))]).text).toBe(
      "✗ The graph failed while it ran. (node `plan`)\n",
    );
    expect(show([live(started), live(failed("The model failed.", { class: "model" }))]).text).toBe(
      "✗ The model failed. (node `plan`, model error)\n",
    );
    const own = "researcher failed in node `plan`: TypeError: no";
    const stack = `TypeError: no\n${"    at plan (file:///graph.ts:1:1)\n".repeat(9)}`;
    const thrown = { own: { name: "TypeError", message: "no", stack } };
    expect(show([live(started), live(failed(own, thrown))]).text).toBe(
      `✗ ${own}\n${"    at plan (file:///graph.ts:1:1)\n".repeat(5)}`,
    );
  });
});
