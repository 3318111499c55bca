import { type AssistantMessage, EventType, type Message } from "@ag-ui/client";
import type { ProcessedEvents } from "./index.mjs";

/**
 * What a run has said so far beyond the thread's own messages. While a run's log is replayed, events are folded into it;
 * then its prelude brings a client to that point, and live events continue from there.
 */
export interface ReplayFold {
  /**
   * Takes one event in and says what a client that is up to date should get of it, or undefined for nothing.
   *
   * @param source the model message that the event was made from, if the event was made from one
   */
  take(event: ProcessedEvents, source?: string): ProcessedEvents | undefined;
  /**
   * What brings a client here: the messages with the partial content of those that are open, then the start of everything
   * that is open. Replayed starts and contents themselves would be added to what the client already shows.
   */
  prelude(): ProcessedEvents[];
  /** Whether one of these messages is not among those that the thread is known to have. */
  isNew(ids: readonly unknown[]): boolean;
  /** The stream is over: from now on the thread's own messages are all there is. */
  forgetPartial(): void;
}

/** @param seen events that have no place in a snapshot, such as CUSTOM, are told again unless the client has seen them */
export function createReplayFold(
  committed: readonly Message[],
  { seen }: { readonly seen: boolean },
): ReplayFold {
  let base = [...committed];
  let known = idsOf(base);
  /** Messages of this run that the thread does not have yet, in order. */
  let partial: Message[] = [];
  /** The event that reopens each item that is open. */
  const open = new Map<string, ProcessedEvents>();
  /** Items whose events are left out, because the thread has the whole of them. */
  const skipped = new Set<string>();
  let unseen: ProcessedEvents[] = [];

  function messageWith(id: string, make: () => Message): Message {
    const found = partial.find((message) => message.id === id);
    if (found !== undefined) return found;
    const made = make();
    partial.push(made);
    return made;
  }

  function assistantWith(id: string): AssistantMessage {
    const message = messageWith(id, () => ({ id, role: "assistant", content: "" }));
    if (message.role === "assistant") return message;
    const other: AssistantMessage = { id, role: "assistant", content: "" };
    partial.push(other);
    return other;
  }

  function begin(key: string, event: ProcessedEvents, isKnown: boolean): ProcessedEvents | undefined {
    if (isKnown) {
      skipped.add(key);
      return undefined;
    }
    skipped.delete(key);
    open.set(key, event);
    return event;
  }

  function finish(key: string, event: ProcessedEvents): ProcessedEvents | undefined {
    open.delete(key);
    return skipped.delete(key) ? undefined : event;
  }

  function take(event: ProcessedEvents, source?: string): ProcessedEvents | undefined {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START: {
        // The pipeline may say several model messages under the first one's id, hence by the source.
        const started = begin(`text:${event.messageId}`, event, known.has(source ?? event.messageId));
        if (started !== undefined) assistantWith(event.messageId);
        return started;
      }
      case EventType.TEXT_MESSAGE_CONTENT: {
        if (skipped.has(`text:${event.messageId}`)) return undefined;
        const message = assistantWith(event.messageId);
        message.content = `${message.content ?? ""}${event.delta}`;
        return event;
      }
      case EventType.TEXT_MESSAGE_END:
        return finish(`text:${event.messageId}`, event);
      case EventType.TOOL_CALL_START: {
        const started = begin(`call:${event.toolCallId}`, event, known.has(event.toolCallId));
        if (started === undefined) return undefined;
        const { toolCalls = [], ...message } = assistantWith(event.parentMessageId ?? event.toolCallId);
        if (!toolCalls.some(({ id }) => id === event.toolCallId)) {
          const call = { name: event.toolCallName, arguments: "" };
          toolCalls.push({ id: event.toolCallId, type: "function", function: call });
        }
        partial = partial.map((one) => (one.id === message.id ? { ...message, toolCalls } : one));
        return started;
      }
      case EventType.TOOL_CALL_ARGS: {
        if (skipped.has(`call:${event.toolCallId}`)) return undefined;
        const call = partial
          .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
          .find(({ id }) => id === event.toolCallId);
        if (call !== undefined) call.function.arguments += event.delta;
        return event;
      }
      case EventType.TOOL_CALL_END:
        return finish(`call:${event.toolCallId}`, event);
      case EventType.TOOL_CALL_RESULT: {
        if (known.has(resultOf(event.toolCallId))) return undefined;
        const { messageId: id, toolCallId, content } = event;
        messageWith(id, () => ({ id, role: "tool", toolCallId, content }));
        return event;
      }
      case EventType.REASONING_START:
        return begin(`reasoning:${event.messageId}`, event, known.has(source ?? event.messageId));
      case EventType.REASONING_END:
        return finish(`reasoning:${event.messageId}`, event);
      case EventType.REASONING_MESSAGE_START: {
        const { messageId: id } = event;
        const started = begin(`thought:${id}`, event, skipped.has(`reasoning:${id}`));
        if (started !== undefined) messageWith(id, () => ({ id, role: "reasoning", content: "" }));
        return started;
      }
      case EventType.REASONING_MESSAGE_CONTENT: {
        if (skipped.has(`thought:${event.messageId}`)) return undefined;
        const message = partial.find(({ id }) => id === event.messageId);
        if (message?.role === "reasoning") message.content += event.delta;
        return event;
      }
      case EventType.REASONING_MESSAGE_END:
        return finish(`thought:${event.messageId}`, event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return skipped.has(`thought:${event.entityId}`) ? undefined : event;
      case EventType.STEP_STARTED:
        open.set(`step:${event.stepName}`, event);
        return event;
      case EventType.STEP_FINISHED:
        open.delete(`step:${event.stepName}`);
        return event;
      case EventType.MESSAGES_SNAPSHOT: {
        base = event.messages;
        known = idsOf(base);
        // A client deletes what a snapshot lacks, and would lose the beginning of what is being said.
        partial = partial.filter((message) => !isKnown(known, message));
        return { ...event, messages: [...base, ...structuredClone(partial)] };
      }
      case EventType.CUSTOM:
        if (!seen) unseen.push(event);
        return event;
      case EventType.RUN_STARTED:
        // The connection has said its own.
        return undefined;
      default:
        return event;
    }
  }

  return {
    take,
    prelude() {
      const messages = [...base, ...structuredClone(partial)];
      const told = unseen;
      unseen = [];
      return [
        ...(messages.length > 0 ? [{ type: EventType.MESSAGES_SNAPSHOT as const, messages }] : []),
        ...told,
        ...open.values(),
      ];
    },
    isNew: (ids) => ids.some((id) => typeof id === "string" && !known.has(id)),
    forgetPartial() {
      partial = [];
    },
  };
}

const resultOf = (toolCallId: string) => `result of ${toolCallId}`;

/** Ids of messages and tool calls, and of the calls that have a result. */
function idsOf(messages: readonly Message[]): Set<string> {
  return new Set(
    messages.flatMap((message) => {
      if (message.role === "tool") return [message.id, resultOf(message.toolCallId)];
      if (message.role === "assistant") return [message.id, ...(message.toolCalls ?? []).map(({ id }) => id)];
      return [message.id];
    }),
  );
}

function isKnown(known: ReadonlySet<string>, message: Message): boolean {
  return known.has(message.role === "tool" ? resultOf(message.toolCallId) : message.id);
}
