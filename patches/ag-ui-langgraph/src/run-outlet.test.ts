import { EventType, type Message } from "@ag-ui/client";
import type { ProcessedEvents } from "@ag-ui/langgraph";
import { expect, test } from "vitest";
import { createRunOutlet } from "./run-outlet.js";

const START: ProcessedEvents = { type: EventType.RUN_STARTED, threadId: "t", runId: "mine" };
const FINISH: ProcessedEvents = { type: EventType.RUN_FINISHED, threadId: "t", runId: "the server's" };
const FAILURE: ProcessedEvents = { type: EventType.RUN_ERROR, message: "the well is dry" };
const text = (id: string): ProcessedEvents => ({
  type: EventType.TEXT_MESSAGE_START,
  messageId: id,
  role: "assistant",
});
const message = (id: string): Message => ({ id, role: "user", content: id });

function outletWith(held: readonly Message[] = [], asFailure?: Parameters<typeof createRunOutlet>[2]) {
  const events: ProcessedEvents[] = [];
  const ends: unknown[] = [];
  const outlet = createRunOutlet(
    {
      next: (event) => events.push(event),
      error: (error) => ends.push(error),
      complete: () => ends.push("complete"),
    },
    held,
    asFailure,
  );
  return { outlet, events, ends, types: () => events.map(({ type }) => type) };
}

test("a failure comes last, after what the pipeline still says, and nothing follows it", () => {
  const { outlet, types, ends } = outletWith();
  for (const event of [
    START,
    FAILURE,
    { type: EventType.STATE_SNAPSHOT, snapshot: {} } as const,
    FINISH,
    START,
  ])
    outlet.next(event);
  expect(types()).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "RUN_ERROR"]);
  expect(ends).toEqual(["complete"]);
});

test("what is open is closed before the run finishes, innermost first", () => {
  const { outlet, events, types } = outletWith();
  for (const event of [START, { type: EventType.STEP_STARTED, stepName: "s" } as const, text("m")])
    outlet.next(event);
  outlet.closeMessages();
  outlet.next(FINISH);
  expect(types()).toEqual([
    "RUN_STARTED",
    "STEP_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_END",
    "STEP_FINISHED",
    "RUN_FINISHED",
  ]);
  expect(events.at(-1)).toMatchObject({ runId: "mine" });
});

test("what would make the client reject the run is left out", () => {
  const { outlet, types } = outletWith();
  const stray: ProcessedEvents = { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "x", delta: "?" };
  for (const event of [START, text("m"), text("m"), stray, FINISH]) outlet.next(event);
  expect(types()).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
});

test("an error of the stream is told as it is, unless the run has said why it failed", () => {
  const broken = new Error("terminated");
  const plain = outletWith();
  plain.outlet.error(broken);
  expect(plain.ends).toEqual([broken]);
  const failed = outletWith();
  failed.outlet.next(FAILURE);
  failed.outlet.error(broken);
  expect(failed.types()).toEqual(["RUN_ERROR"]);
  const told = outletWith([], () => ({
    type: EventType.RUN_ERROR,
    message: "gone",
    code: "UPSTREAM_UNAVAILABLE",
  }));
  told.outlet.error(broken);
  expect(told.events).toMatchObject([{ message: "gone" }]);
});

test("a snapshot that a client would append in another order is preceded by what it agrees with", () => {
  const { outlet, events } = outletWith([message("a"), message("c")]);
  const snapshot = (...ids: string[]): ProcessedEvents => ({
    type: EventType.MESSAGES_SNAPSHOT,
    messages: ids.map(message),
  });
  outlet.next(snapshot("a", "b", "c"));
  outlet.next(snapshot("a", "b", "c", "d"));
  expect(events).toEqual([snapshot("a"), snapshot("a", "b", "c"), snapshot("a", "b", "c", "d")]);
});
