import {
  type AgUiEncoderOptions,
  applyEnvelope,
  createAgUiEncoder,
  emptyThreadProjection,
  type ProjectedMessage,
  type ThreadProjection,
} from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { drive, piece } from "./testing/drive.js";
import { toEntries } from "./testing/recording.js";
import { applyWithStockClient } from "./testing/stock-client.js";
import { createWatcher } from "./testing/watcher.js";

const options: AgUiEncoderOptions = { threadName: "plan", line: "1.0", interrupts: "standard", calls: true };
const face = createAgUiEncoder(options);

const user: ProjectedMessage = { id: "u1", role: "user", content: "go" };
const nested = (index: number, size = 5): ProjectedMessage => ({
  id: `n${index}`,
  role: "assistant",
  content: "a".repeat(size),
  subagent_id: "tools:1",
});
const thought = (index: number): ProjectedMessage => ({
  id: `t${index}`,
  role: "assistant",
  content: "",
  reasoning: "Hm",
  bare: true,
});
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const preludeOf = (fold: ThreadProjection) => face.fullSnapshot(fold, undefined).map(({ event }) => event);

/** A thread as one sees it who watched when the next run begins, and as one who comes then. */
function begin(messages: readonly ProjectedMessage[]) {
  const before: ThreadProjection = { ...emptyThreadProjection, messages };
  const [start] = toEntries(drive([], { runId: "run-2" }));
  if (!start) throw new Error("a run has a start");
  const after = applyEnvelope(before, start.envelope);
  return { before, after, events: face.frames(before, start).map(({ event }) => event) };
}

describe("what was said beside the conversation", () => {
  it("is still there in the next run, for who watched and for who comes: a subagent's words, and a thought", () => {
    const path = "tools:t1|scout:t2";
    const first = drive([
      piece({ id: "m0", content: "", additional_kwargs: { reasoning_content: "Hm" } }),
      {
        ns: ["tools:t1"],
        mode: "tools",
        data: { event: "on_tool_start", toolCallId: "c1", name: "task", input: "{}" },
      },
      piece({ id: "m2", content: "found" }, path),
    ]);
    const fold = [
      ...first,
      ...drive([], { runId: "run-2", fold: first.reduce(applyEnvelope, emptyThreadProjection) }),
    ].reduce(applyEnvelope, emptyThreadProjection);
    const shown = JSON.stringify(preludeOf(fold));
    expect(shown).toContain('"found"');
    expect(shown).toContain('"Hm"');
  });

  it("stays where it was when the checkpoint's messages are told anew", () => {
    const messages = [user, thought(1), nested(1), { id: "a1", role: "assistant" as const, content: "Hi" }];
    const [start] = drive([]);
    if (!start) throw new Error("a run has a start");
    const truth = [
      user,
      { id: "a1", role: "assistant" as const, content: "Hi" },
      { id: "u2", role: "user" as const, content: "on" },
    ];
    const payload = { messages: truth.map(({ id, role, content }) => ({ id, role, content })) };
    const fold = applyEnvelope(
      { ...emptyThreadProjection, messages },
      { ...start, type: "state_snapshot", payload },
    );
    expect(fold.messages.map(({ id }) => id)).toEqual(["u1", "t1", "n1", "a1", "u2"]);
  });

  it("is let go beyond a bound, the older half, and those who have it are told", () => {
    const { before, after, events } = begin([user, ...many(401, (index) => nested(index))]);
    expect(after.messages).toHaveLength(201);
    expect(after.messages.at(-1)?.id).toBe("n400");
    const live = createWatcher();
    live.take(preludeOf(before));
    live.take(events);
    const late = createWatcher();
    late.take(preludeOf(after));
    expect(live.shown()).toEqual(late.shown());
  });

  it("is bounded by its length, too", () => {
    const { after } = begin([user, ...many(20, (index) => nested(index, 100_000))]);
    expect(after.messages).toHaveLength(1 + 5);
  });

  it.each(["0.0", "1.0"] as const)("goes from a stock client of line %s, thoughts included", async (line) => {
    const stock = createAgUiEncoder({ ...options, line });
    const before: ThreadProjection = {
      ...emptyThreadProjection,
      messages: [user, ...many(300, thought), ...many(300, (index) => nested(index))],
    };
    const entries = toEntries(drive([], { runId: "run-2" }));
    let fold = before;
    const events = stock.fullSnapshot(before, undefined).map(({ event }) => event);
    for (const entry of entries) {
      events.push(...stock.frames(fold, entry).map(({ event }) => event));
      fold = applyEnvelope(fold, entry.envelope);
    }
    const live = await applyWithStockClient(line, events);
    const late = await applyWithStockClient(
      line,
      stock.fullSnapshot(fold, undefined).map(({ event }) => event),
    );
    expect(live.errors).toEqual([]);
    const ids = (view: typeof live) =>
      view.messages.map((message) => ("id" in message ? message.id : "")).sort();
    expect(ids(live)).toEqual(ids(late));
  });
});
