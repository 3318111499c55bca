import { describe, expect, it } from "vitest";
import type { AgentEvent, AgUiFrame } from "../wire/agent-event.js";
import {
  type Authority,
  emptyProjection,
  type Projection,
  type ProjectionEffect,
  type ProjectionInput,
  project,
  type Source,
} from "./agent-projection-reducer.js";
import { currentMessages, messageById, type ThreadMessage } from "./thread-view.js";

function shown() {
  let state: Projection = emptyProjection;
  let effects: readonly ProjectionEffect[] = [];
  return {
    take(input: ProjectionInput) {
      [state, effects] = project(state, input);
      return this;
    },
    claim(source: Source): Authority {
      this.take({ kind: "claim", source });
      const granted = effects.find((effect) => effect.kind === "granted");
      if (granted?.kind !== "granted") throw new Error("denied");
      return granted.authority;
    },
    frames(authority: Authority, ...frames: readonly AgUiFrame[]) {
      return this.take({ kind: "frames", authority, frames });
    },
    get state() {
      return state;
    },
    get view() {
      return state.view;
    },
    get effects() {
      return effects;
    },
  };
}

function frame(event: AgentEvent, id?: string): AgUiFrame {
  return id === undefined ? { event } : { id, event };
}
function started(runId: string, messages: readonly { id: string; content: string }[] = []): AgentEvent {
  return {
    type: "RUN_STARTED",
    threadId: "t",
    runId,
    input: { messages: messages.map((message) => ({ ...message, role: "user" })) },
  };
}
function finished(runId: string): AgentEvent {
  return { type: "RUN_FINISHED", threadId: "t", runId };
}
function state(snapshot: Record<string, string>): AgentEvent {
  return { type: "STATE_SNAPSHOT", snapshot };
}
function texts(messages: readonly ThreadMessage[]) {
  return messages.map(({ content }) => content);
}
/** What the service tells a client that holds nothing, of an idle thread. */
function prelude(runId: string, cursor: string): readonly AgUiFrame[] {
  return [
    frame(started(runId)),
    frame(state({ mood: "calm" })),
    frame({ type: "MESSAGES_SNAPSHOT", messages: [{ id: "m1", role: "user", content: "hello" }] }),
    frame(finished(runId), cursor),
  ];
}

describe("authority", () => {
  it("belongs to one stream: a newer one of its kind makes the older one stale", () => {
    const one = shown();
    const old = one.claim("detail-connect");
    const now = one.claim("detail-connect");
    one.frames(old, frame(state({ by: "old" })), frame(started("r")));
    expect(one.effects).toEqual([{ kind: "stale", count: 2 }]);
    expect(one.view.state).toEqual({});
    expect(one.frames(now, frame(state({ by: "now" }))).view.state).toEqual({ by: "now" });
  });

  it("of a page that is open is not taken by a poll", () => {
    const one = shown();
    const authority = one.claim("detail-connect");
    one.take({ kind: "claim", source: "poll" });
    expect(one.effects).toEqual([]);
    expect(one.state.authority).toEqual(authority);
  });

  it("passes to the page that is opened while a poll is under way, and the poll's answer is stale", () => {
    const one = shown();
    const poll = one.claim("poll");
    one.claim("detail-connect");
    expect(one.frames(poll, frame(state({ by: "poll" }))).effects).toEqual([{ kind: "stale", count: 1 }]);
  });

  it("is free once it was released, and a late release takes it from nobody", () => {
    const one = shown();
    const page = one.claim("detail-connect");
    one.take({ kind: "release", authority: page });
    const poll = one.claim("poll");
    one.take({ kind: "release", authority: page });
    expect(one.state.authority).toEqual(poll);
    expect(one.frames(page, frame(state({ by: "page" }))).effects).toEqual([{ kind: "stale", count: 1 }]);
  });
});

describe("frames", () => {
  it("that come twice count once", () => {
    const one = shown();
    const page = one.claim("detail-connect");
    const start = frame({ type: "TEXT_MESSAGE_START", messageId: "m" }, "1");
    const word = frame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" }, "2");
    one.frames(page, start, word, word);
    expect(one.effects).toEqual([{ kind: "duplicate", count: 1 }]);
    one.frames(page, word);
    expect(texts(currentMessages(one.view))).toEqual(["hi"]);
    expect(one.state.cursor).toBe("2");
  });

  it("are remembered within a bound, so that a long stream costs no more than a short one", () => {
    const one = shown();
    const page = one.claim("detail-connect");
    for (let n = 0; n < 500; n += 1) one.frames(page, frame(state({ n: String(n) }), String(n)));
    expect(one.state.seen.count).toBeLessThanOrEqual(128);
    expect(one.frames(page, frame(state({ n: "again" }), "499")).view.state).toEqual({ n: "499" });
  });

  it("of a prelude leave no cursor until its last one", () => {
    const one = shown();
    const page = one.claim("detail-connect");
    const [begin, snapshot, messages, end] = prelude("r", "9");
    one.frames(page, frame(state({}), "8"));
    if (!begin || !snapshot || !messages || !end) throw new Error("a prelude has four frames");
    expect(one.frames(page, begin, snapshot).state.cursor).toBeUndefined();
    expect(one.frames(page, messages, end).state.cursor).toBe("9");
  });

  it("of the same prelude told again are taken whole, also the last one that was seen before", () => {
    const one = shown();
    one.frames(one.claim("detail-connect"), ...prelude("r", "9"));
    one.frames(one.claim("detail-connect"), ...prelude("r", "9"));
    expect(one.view.run?.status).toBe("success");
    expect(one.state.cursor).toBe("9");
  });

  it("that do not fit take the cursor and the right to write with them", () => {
    const one = shown();
    const page = one.claim("detail-connect");
    one.frames(
      page,
      frame(state({ fits: "yes" }), "1"),
      frame({ type: "TEXT_MESSAGE_CONTENT", messageId: "nobody", delta: "?" }, "2"),
      frame(state({ fits: "behind it" }), "3"),
    );
    expect(one.effects).toEqual([{ kind: "misfit", type: "TEXT_MESSAGE_CONTENT" }]);
    expect(one.view.state).toEqual({ fits: "yes" });
    expect(one.state.cursor).toBeUndefined();
    expect(one.frames(page, frame(state({ fits: "late" }), "4")).effects).toEqual([
      { kind: "stale", count: 1 },
    ]);
  });

  it("tell of every run and acknowledgement, also of those that came and went at once", () => {
    const one = shown();
    one.frames(
      one.claim("detail-connect"),
      frame(started("a"), "1"),
      frame(state({ lastAppliedClientMutationId: "a" }), "2"),
      frame(finished("a"), "3"),
      frame(started("b"), "4"),
    );
    expect(
      one.effects.map((effect) =>
        effect.kind === "run" ? `${effect.run.runId} ${effect.run.status}` : effect.kind,
      ),
    ).toEqual(["a running", "acknowledged", "a success", "b running"]);
  });

  it("a view taken over from another tab tells of its run and acknowledgement too", () => {
    const other = shown();
    other.frames(
      other.claim("detail-connect"),
      frame(started("a"), "1"),
      frame(state({ lastAppliedClientMutationId: "m" }), "2"),
    );
    const one = shown().take({ kind: "adopt", view: other.view, cursor: "2" });
    expect(one.effects.map(({ kind }) => kind)).toEqual(["acknowledged", "run"]);
    expect(one.state.cursor).toBe("2");
  });
});

describe("messages of this client", () => {
  const hello: ThreadMessage = { id: "m1", role: "user", content: "hello" };

  it("are shown before the service has them, and are its own once it says so", () => {
    const one = shown().take({ kind: "sending", messages: [hello] });
    expect(one.view.messages).toEqual([{ ...hello, local: "sending" }]);
    one.frames(one.claim("detail-connect"), frame(started("r", [{ id: "m1", content: "hello" }])));
    expect(one.view.messages).toEqual([{ ...hello, runId: "r" }]);
  });

  it("stay behind what a snapshot tells, unless it tells of them", () => {
    const one = shown().take({ kind: "sending", messages: [hello, { ...hello, id: "m2" }] });
    one.frames(
      one.claim("detail-connect"),
      frame({
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "m0", role: "assistant", content: "earlier" },
          { id: "m1", role: "user", content: "hello" },
        ],
      }),
    );
    expect(one.view.messages.map(({ id, local }) => `${id} ${local}`)).toEqual([
      "m0 undefined",
      "m1 undefined",
      "m2 sending",
    ]);
  });

  it("stand behind what the service tells meanwhile, and take their place in the order it has them", () => {
    const one = shown().take({ kind: "sending", messages: [hello, { ...hello, id: "m2" }] });
    const page = one.claim("detail-connect");
    one.frames(page, frame(started("r")), frame({ type: "TEXT_MESSAGE_START", messageId: "other" }));
    expect(one.view.messages.map(({ id }) => id)).toEqual(["other", "m1", "m2"]);
    one.frames(page, frame(started("r2", [{ id: "m2", content: "hello" }])));
    expect(one.view.messages.map(({ id }) => id)).toEqual(["other", "m2", "m1"]);
    one.frames(page, frame({ type: "TEXT_MESSAGE_CONTENT", messageId: "other", delta: "still" }));
    expect(messageById(one.view, "other")?.content).toBe("still");
  });

  it("that were refused say so, can be sent again, and can be given up", () => {
    const one = shown().take({ kind: "sending", messages: [hello] });
    one.take({ kind: "unsent", messageIds: ["m1", "unknown"] });
    expect(messageById(one.view, "m1")?.local).toBe("unsent");
    one.take({ kind: "sending", messages: [hello] });
    expect(messageById(one.view, "m1")?.local).toBe("sending");
    one.take({ kind: "discard", messageId: "m1" });
    expect(one.view.messages).toEqual([]);
  });

  it("that the service has are never shown as on their way again, refused or given up", () => {
    const one = shown().take({ kind: "sending", messages: [hello] });
    one.frames(one.claim("detail-connect"), frame(started("r", [{ id: "m1", content: "hello" }])));
    const { view } = one;
    one.take({ kind: "sending", messages: [hello] }).take({ kind: "unsent", messageIds: ["m1"] });
    one.take({ kind: "discard", messageId: "m1" });
    expect(one.view).toBe(view);
  });
});
