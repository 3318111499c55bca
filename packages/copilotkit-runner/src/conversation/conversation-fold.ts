import type { FoldPort, Json, LogEntry } from "@throughline/ai-core";
import { isObject } from "../events/ag-ui-event.js";
import { applyEvent } from "./apply-event.js";
import { type Conversation, emptyConversation } from "./conversation.js";
import { eventOf } from "./run-envelopes.js";

/** Other than the versions of the service's fold, whose snapshots are something else. */
const FOLD_VERSION = 1_001;

export function applyEntries(conversation: Conversation, entries: readonly LogEntry[]): Conversation {
  return entries.reduce((so, entry) => {
    const event = eventOf(entry);
    return event ? applyEvent(so, event) : so;
  }, conversation);
}

/** What the log keeps snapshots of, so that a thread of any length is told by one of them and the entries since. */
export const conversationFold: FoldPort<Conversation> = {
  version: FOLD_VERSION,
  reads: [FOLD_VERSION],
  empty: emptyConversation,
  apply: applyEntries,
  encode: (conversation) => ({
    run: conversation.run && { ...conversation.run },
    state: conversation.state,
    messages: [...conversation.messages],
    open: [...conversation.open],
    questions: [...conversation.questions],
  }),
  decode: (snapshot, version) => (version === FOLD_VERSION && isSnapshot(snapshot) ? snapshot : undefined),
};

/** Written by `encode` of this very version: looked at, not checked. */
function isSnapshot(snapshot: Json): snapshot is Json & Conversation {
  return isObject(snapshot) && Array.isArray(snapshot.messages) && Array.isArray(snapshot.open);
}
