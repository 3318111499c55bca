import { describe, expect, it } from "vitest";
import { currentMessages, emptyThreadView } from "../projection/thread-view.js";
import { textsOf } from "../testing/texts-of.js";
import type { AgentEvent } from "../wire/agent-event.js";
import { createSharedLine } from "./shared-line.js";
import type { LeaderWord } from "./tab-channel.js";

/** A line whose leader is another tab, and what it asked that tab for. */
function follower() {
  const asked: string[] = [];
  const line = createSharedLine({
    key: "thread",
    onChange() {},
    onShown() {},
    createController() {
      throw new Error("Nobody made this tab the leader.");
    },
    send: (word: LeaderWord) => asked.push(`told ${word.kind}`),
    soon: (callback) => callback(),
    ask: (wish) => asked.push(wish.kind),
    onOpen() {},
    firstSeq: () => 0,
  });
  line.follow();
  asked.length = 0;
  const snapshot = (seq: number, view = emptyThreadView) =>
    line.receive({
      epoch: 1,
      kind: "snapshot",
      key: "thread",
      seq,
      view,
      cursor: undefined,
      isKnown: true,
      status: { kind: "live" },
      pending: { sync: false, running: false, preempting: false, queue: [] },
    });
  const shown = (seq: number, ...events: readonly AgentEvent[]) =>
    line.receive({
      epoch: 1,
      kind: "frames",
      key: "thread",
      seq,
      texts: textsOf(events.map((event, n) => ({ id: `${seq}.${n}`, event }))),
    });
  const texts = () => currentMessages(line.view()).map(({ content }) => content);
  return { line, asked, snapshot, shown, texts };
}

const begin: AgentEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const speak: AgentEvent = { type: "TEXT_MESSAGE_START", messageId: "m" };
const say = (delta: string): AgentEvent => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });

describe("a line that another tab holds", () => {
  it("shows what its leader shows, in order", () => {
    const { snapshot, shown, texts, asked } = follower();
    snapshot(0);
    shown(1, begin, speak, say("One "));
    shown(2, say("two "));
    shown(3, say("three"));
    expect(texts()).toEqual(["One two three"]);
    expect(asked).toEqual([]);
  });

  it("shows words once, and nothing before it has all", () => {
    const { snapshot, shown, texts, asked } = follower();
    shown(1, begin, speak, say("early"));
    expect(texts()).toEqual([]);
    snapshot(1);
    shown(1, begin, speak, say("late"));
    expect(texts()).toEqual([]);
    shown(2, begin, speak, say("now"));
    expect(texts()).toEqual(["now"]);
    expect(asked).toEqual([]);
  });

  it("asks for all there is when a word is missing, and passes over the rest until it has it", () => {
    const { snapshot, shown, texts, asked } = follower();
    snapshot(0);
    shown(1, begin, speak, say("One "));
    shown(3, say("three"));
    shown(4, say("four"));
    expect(asked).toEqual(["ask-snapshot"]);
    expect(texts()).toEqual(["One "]);
    snapshot(4, { ...emptyThreadView, messages: [{ id: "m", role: "assistant", content: "All" }] });
    expect(texts()).toEqual(["All"]);
  });

  it("asks for all there is when a word does not fit", () => {
    const { snapshot, shown, asked } = follower();
    snapshot(0);
    shown(1, say("of what?"));
    expect(asked).toEqual(["ask-snapshot"]);
  });
});
