import { EventType, type Message, type RunErrorEvent } from "@ag-ui/client";
import type { Observer } from "rxjs";
import type { ProcessedEvents } from "./index.mjs";
import { createMessageOrder } from "./message-order.js";

/** The last stage before a client: whatever comes in, one well-formed run goes out. */
export interface RunOutlet extends Observer<ProcessedEvents> {
  /** Ends messages, tool calls and reasoning that are still open; steps end with the run. */
  closeMessages(): void;
  /** The run ends with this instead of RUN_FINISHED. The first failure counts. */
  fail(failure: RunErrorEvent): void;
}

/**
 * The client's `verifyEvents` rejects a run that has events after RUN_ERROR or that finishes with something open, and then
 * hides the failure that caused it. Hence RUN_ERROR is held back until the run has said everything, what is open is closed
 * before RUN_FINISHED, both boundaries carry one run id, and nothing follows a terminal event.
 *
 * @param held the messages that the client has
 * @param asFailure what to say of an error of the stream itself; without it the error goes to the observer
 */
export function createRunOutlet(
  target: Observer<ProcessedEvents> & { readonly closed?: boolean },
  held: readonly Message[],
  asFailure?: (error: unknown) => RunErrorEvent,
): RunOutlet {
  /** How to close what is open, by what it is. */
  const open = new Map<string, ProcessedEvents>();
  const messages = createMessageOrder(held);
  let runId: string | undefined;
  let failure: RunErrorEvent | undefined;
  let ended = false;

  function close(which: (key: string) => boolean): void {
    for (const [key, closing] of [...open].reverse()) {
      if (!which(key)) continue;
      open.delete(key);
      target.next(closing);
    }
  }

  function end(terminal: ProcessedEvents | undefined): void {
    ended = true;
    // RUN_ERROR closes what is open; RUN_FINISHED may not leave anything open.
    if (failure !== undefined) target.next(failure);
    else if (terminal !== undefined) {
      close(() => true);
      target.next(terminal);
    }
    target.complete();
  }

  return {
    next(event) {
      if (ended || target.closed) return;
      if (event.type === EventType.RUN_ERROR) {
        failure ??= event;
        return;
      }
      if (event.type === EventType.RUN_FINISHED) {
        end({ ...event, runId: runId ?? event.runId });
        return;
      }
      if (event.type === EventType.RUN_STARTED) runId = event.runId;
      const item = itemOf(event);
      if (item !== undefined) {
        // Opening twice and adding to what is not open are protocol errors, which would cost the client the whole run.
        if (open.has(item.key) === (item.does === "open")) return;
        if (item.does === "close") open.delete(item.key);
        if (item.does === "open") open.set(item.key, item.closing);
      }
      for (const sent of messages.sent(event)) target.next(sent);
    },
    error(error) {
      if (ended) return;
      if (failure === undefined && asFailure === undefined) {
        ended = true;
        target.error(error);
        return;
      }
      failure ??= asFailure?.(error);
      end(undefined);
    },
    complete() {
      if (!ended) end(undefined);
    },
    closeMessages() {
      if (!ended) close((key) => !key.startsWith("step:"));
    },
    fail(event) {
      failure ??= event;
    },
  };
}

type Item =
  | { readonly key: string; readonly does: "open"; readonly closing: ProcessedEvents }
  | { readonly key: string; readonly does: "add" | "close" };

/** What an event does to an item that has a beginning and an end. */
function itemOf(event: ProcessedEvents): Item | undefined {
  switch (event.type) {
    case EventType.TEXT_MESSAGE_START:
      return {
        key: `text:${event.messageId}`,
        does: "open",
        closing: { type: EventType.TEXT_MESSAGE_END, messageId: event.messageId },
      };
    case EventType.TEXT_MESSAGE_CONTENT:
      return { key: `text:${event.messageId}`, does: "add" };
    case EventType.TEXT_MESSAGE_END:
      return { key: `text:${event.messageId}`, does: "close" };
    case EventType.TOOL_CALL_START:
      return {
        key: `call:${event.toolCallId}`,
        does: "open",
        closing: { type: EventType.TOOL_CALL_END, toolCallId: event.toolCallId },
      };
    case EventType.TOOL_CALL_ARGS:
      return { key: `call:${event.toolCallId}`, does: "add" };
    case EventType.TOOL_CALL_END:
      return { key: `call:${event.toolCallId}`, does: "close" };
    case EventType.REASONING_START:
      return {
        key: `reasoning:${event.messageId}`,
        does: "open",
        closing: { type: EventType.REASONING_END, messageId: event.messageId },
      };
    case EventType.REASONING_END:
      return { key: `reasoning:${event.messageId}`, does: "close" };
    case EventType.REASONING_MESSAGE_START:
      return {
        key: `thought:${event.messageId}`,
        does: "open",
        closing: { type: EventType.REASONING_MESSAGE_END, messageId: event.messageId },
      };
    case EventType.REASONING_MESSAGE_CONTENT:
      return { key: `thought:${event.messageId}`, does: "add" };
    case EventType.REASONING_MESSAGE_END:
      return { key: `thought:${event.messageId}`, does: "close" };
    case EventType.STEP_STARTED:
      return {
        key: `step:${event.stepName}`,
        does: "open",
        closing: { type: EventType.STEP_FINISHED, stepName: event.stepName },
      };
    case EventType.STEP_FINISHED:
      return { key: `step:${event.stepName}`, does: "close" };
    default:
      return undefined;
  }
}
