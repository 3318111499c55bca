import type { LogPosition } from "@throughline/ai-core";
import { readFold, type ThreadLog, type ThreadRef } from "@throughline/thread-log";
import type { Conversation } from "../conversation/conversation.js";
import { emptyConversation } from "../conversation/conversation.js";
import { applyEntries, conversationFold } from "../conversation/conversation-fold.js";

export interface ConversationAt {
  readonly conversation: Conversation;
  /** `undefined` when the thread does not exist. */
  readonly position: LogPosition | undefined;
}

/** How a thread stands now. A thread that was deleted is empty. */
export async function readConversation(log: ThreadLog, thread: ThreadRef): Promise<ConversationAt> {
  const read = await readFold(log, conversationFold, thread);
  if (read.kind === "folded") return { conversation: read.state, position: read.position };
  // The log keeps a snapshot before it trims, so only a fold of another version leads here.
  return { conversation: emptyConversation, position: read.kind === "gap" ? read.head : undefined };
}

const ENTRIES_PER_READ = 1_000;

/** How a thread stood at a position of its past; `undefined` when the log can't tell it any more. */
export async function readConversationAt(
  log: ThreadLog,
  thread: ThreadRef,
  at: LogPosition,
): Promise<Conversation | undefined> {
  const snapshot = await log.snapshot(thread, conversationFold.reads, at.seq);
  const usable = snapshot?.position.epoch === at.epoch ? snapshot : undefined;
  let conversation =
    (usable && conversationFold.decode(usable.state, usable.foldVersion)) ?? emptyConversation;
  let position = usable?.position;
  while ((position?.seq ?? 0) < at.seq) {
    const limit = Math.min(ENTRIES_PER_READ, at.seq - (position?.seq ?? 0));
    const read = await log.read(thread, position, limit);
    const last = read.kind === "entries" ? read.entries.at(-1) : undefined;
    // Of another epoch, or merged with what follows it: then the position is none of this log.
    if (read.kind !== "entries" || last?.epoch !== at.epoch || last.seq > at.seq) return undefined;
    conversation = applyEntries(conversation, read.entries);
    position = { epoch: last.epoch, seq: last.seq };
  }
  return conversation;
}
