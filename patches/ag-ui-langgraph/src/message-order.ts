import { EventType, type Message } from "@ag-ui/client";
import type { ProcessedEvents } from "./index.mjs";

/** Knows in which order a client holds its messages, and keeps that order right. */
export interface MessageOrder {
  /**
   * What to send instead of the event. A client updates the messages that it holds where they are and appends the others,
   * so a snapshot with an unknown message before a known one would end up in another order: then a snapshot of what
   * precedes the unknown one goes first, which makes the client forget the rest.
   */
  sent(event: ProcessedEvents): readonly ProcessedEvents[];
}

export function createMessageOrder(held: readonly Message[]): MessageOrder {
  let order = held.map(({ id }) => id);

  function add(id: string): void {
    if (!order.includes(id)) order.push(id);
  }

  return {
    sent(event) {
      if (event.type === EventType.TEXT_MESSAGE_START) add(event.messageId);
      if (event.type === EventType.REASONING_MESSAGE_START) add(event.messageId);
      if (event.type === EventType.TOOL_CALL_START) add(event.parentMessageId ?? event.toolCallId);
      if (event.type !== EventType.MESSAGES_SNAPSHOT) return [event];
      const ids = event.messages.map(({ id }) => id);
      const kept = order.filter((id) => ids.includes(id));
      order = ids;
      const settled = ids.findIndex((id, index) => id !== kept[index]);
      if (settled === -1 || settled >= kept.length) return [event];
      return [{ ...event, messages: event.messages.slice(0, settled) }, event];
    },
  };
}
