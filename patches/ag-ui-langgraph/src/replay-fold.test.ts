import { AbstractAgent, type BaseEvent, EventType, type Message } from "@ag-ui/client";
import { AbstractAgent as AbstractAgent1 } from "@ag-ui/client-1";
import type { ProcessedEvents } from "@ag-ui/langgraph";
import { from, type Observable } from "rxjs";
import { expect, test } from "vitest";
import { createReplayFold } from "./replay-fold.js";

const asked: Message = { id: "m0", role: "user", content: "How is it?" };
const boundary = { threadId: "t", runId: "r" };

/** Everything that has a beginning, a middle and an end. */
const said: ProcessedEvents[] = [
  { type: EventType.STEP_STARTED, stepName: "agent" },
  { type: EventType.REASONING_START, messageId: "thought" },
  { type: EventType.REASONING_MESSAGE_START, messageId: "thought", role: "reasoning" },
  { type: EventType.REASONING_MESSAGE_CONTENT, messageId: "thought", delta: "hm" },
  { type: EventType.REASONING_MESSAGE_CONTENT, messageId: "thought", delta: "m" },
  { type: EventType.REASONING_MESSAGE_END, messageId: "thought" },
  { type: EventType.REASONING_END, messageId: "thought" },
  { type: EventType.TEXT_MESSAGE_START, messageId: "m1", role: "assistant" },
  { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m1", delta: "Let me " },
  { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m1", delta: "see. " },
  { type: EventType.TEXT_MESSAGE_END, messageId: "m1" },
  { type: EventType.TOOL_CALL_START, toolCallId: "c1", toolCallName: "look", parentMessageId: "m1" },
  { type: EventType.TOOL_CALL_ARGS, toolCallId: "c1", delta: '{"a"' },
  { type: EventType.TOOL_CALL_ARGS, toolCallId: "c1", delta: ":1}" },
  { type: EventType.TOOL_CALL_END, toolCallId: "c1" },
  { type: EventType.STEP_FINISHED, stepName: "agent" },
  { type: EventType.CUSTOM, name: "progress", value: 1 },
  { type: EventType.TOOL_CALL_RESULT, messageId: "m2", toolCallId: "c1", content: "rain", role: "tool" },
  { type: EventType.STEP_STARTED, stepName: "answer" },
  { type: EventType.TEXT_MESSAGE_START, messageId: "m3", role: "assistant" },
  { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m3", delta: "It ra" },
  { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m3", delta: "ins." },
  { type: EventType.TEXT_MESSAGE_END, messageId: "m3" },
  { type: EventType.STEP_FINISHED, stepName: "answer" },
];

const inRun = (events: readonly ProcessedEvents[]): ProcessedEvents[] => [
  { type: EventType.RUN_STARTED, ...boundary },
  ...events,
  { type: EventType.RUN_FINISHED, ...boundary },
];

/** What a late viewer gets whose replay ends after so many events. */
function joinedAt(place: number, committed: readonly Message[] = [asked]): ProcessedEvents[] {
  const fold = createReplayFold(committed, { seen: false });
  for (const event of said.slice(0, place)) fold.take(event);
  return [...fold.prelude(), ...said.slice(place).flatMap((event) => fold.take(event) ?? [])];
}

type Events1 = ReturnType<AbstractAgent1["run"]>;
type Event1 = Events1 extends Observable<infer Event> ? Event : never;

async function shownByBoth(events: readonly ProcessedEvents[], held: Message[] = []) {
  // A client goes on writing into the messages of a snapshot.
  const wire = JSON.stringify(events);
  const sent = (): BaseEvent[] => JSON.parse(wire);
  class Viewer extends AbstractAgent {
    override run(): Observable<BaseEvent> {
      throw new Error("only connected");
    }
    protected override connect(): Observable<BaseEvent> {
      return from(sent());
    }
  }
  class Viewer1 extends AbstractAgent1 {
    override run(): Events1 {
      throw new Error("only connected");
    }
    protected override connect(): Events1 {
      const events1: Event1[] = JSON.parse(wire);
      return from(events1);
    }
  }
  const agent = new Viewer({ initialMessages: structuredClone(held) });
  await agent.connectAgent();
  const newer = new Viewer1({ initialMessages: JSON.parse(JSON.stringify(held)) });
  await newer.connectAgent();
  expect(newer.messages).toEqual(agent.messages);
  return agent.messages;
}

test("wherever a viewer joins, both clients accept it and show what the first viewer saw", async () => {
  const first = await shownByBoth(inRun([{ type: EventType.MESSAGES_SNAPSHOT, messages: [asked] }, ...said]));
  expect(first.map(({ id }) => id)).toEqual(["m0", "thought", "m1", "m2", "m3"]);
  for (let place = 0; place <= said.length; place++) {
    expect(await shownByBoth(inRun(joinedAt(place))), `joined after ${place}`).toEqual(first);
  }
});

test("a viewer who holds a part already does not get it twice", async () => {
  const whole = await shownByBoth(inRun(joinedAt(0)));
  for (const cut of [9, 13, 21]) {
    const held = await shownByBoth([
      { type: EventType.RUN_STARTED, ...boundary },
      { type: EventType.MESSAGES_SNAPSHOT, messages: [asked] },
      ...said.slice(0, cut),
    ]);
    expect(await shownByBoth(inRun(joinedAt(cut + 1)), held), `left after ${cut}`).toEqual(whole);
  }
});

test("what the thread has is not told again, by whatever id the pipeline says it", async () => {
  const committed: Message[] = [
    asked,
    {
      id: "m1",
      role: "assistant",
      content: "Let me see. ",
      toolCalls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"a":1}' } }],
    },
    { id: "stored", role: "tool", toolCallId: "c1", content: "rain" },
  ];
  const fold = createReplayFold(committed, { seen: false });
  const told = said.flatMap((event) => {
    const aboutFirst = "messageId" in event && ["thought", "m1"].includes(String(event.messageId));
    return fold.take(event, aboutFirst ? "m1" : undefined) ?? [];
  });
  const ids = told.flatMap((event) => ("messageId" in event ? [event.messageId] : []));
  expect(new Set(ids)).toEqual(new Set(["m3"]));
  expect(told.map(({ type }) => type)).not.toContain(EventType.TOOL_CALL_START);
});

test("a snapshot in the middle keeps the beginning of what is being said", () => {
  const fold = createReplayFold([asked], { seen: true });
  for (const event of said.slice(0, 9)) fold.take(event);
  const snapshot = fold.take({ type: EventType.MESSAGES_SNAPSHOT, messages: [asked] });
  expect(snapshot).toMatchObject({
    messages: [{ id: "m0" }, { id: "thought" }, { id: "m1", content: "Let me " }],
  });
  fold.forgetPartial();
  const last = fold.take({ type: EventType.MESSAGES_SNAPSHOT, messages: [asked] });
  expect(last).toMatchObject({ messages: [{ id: "m0" }] });
});

test("custom events are told again only to who has not seen them", () => {
  for (const seen of [true, false]) {
    const fold = createReplayFold([], { seen });
    for (const event of said) fold.take(event);
    const types = fold.prelude().map(({ type }) => type);
    expect(types.includes(EventType.CUSTOM)).toBe(!seen);
  }
});
