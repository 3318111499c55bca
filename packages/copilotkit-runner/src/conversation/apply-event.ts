import { type AgUiEvent, isTerminal, textOf } from "../events/ag-ui-event.js";
import { trackOpen } from "../events/open-items.js";
import { applyToMessages } from "./apply-messages.js";
import type { Conversation } from "./conversation.js";
import { patched } from "./patched.js";

/** A conversation after one more event. Pure; O(messages), which is a copy of a list. */
export function applyEvent(conversation: Conversation, event: AgUiEvent): Conversation {
  const messages = applyToMessages(conversation.messages, event);
  const open = trackOpen(conversation.open, event);
  const next = { ...conversation, messages, open };
  switch (event.type) {
    case "RUN_STARTED":
      return {
        ...next,
        run: { runId: textOf(event.runId) ?? "", open: true, terminal: null },
        questions: [],
      };
    case "STATE_SNAPSHOT":
      return { ...next, state: event.snapshot ?? null };
    case "STATE_DELTA":
      return { ...next, state: patched(next.state, event.delta) ?? next.state };
    case "CUSTOM":
      return event.name === "on_interrupt" ? { ...next, questions: [...next.questions, event] } : next;
    default:
      // A run that was lost before it began ends nothing.
      return isTerminal(event) && next.run?.open
        ? { ...next, run: { ...next.run, open: false, terminal: event } }
        : next;
  }
}
