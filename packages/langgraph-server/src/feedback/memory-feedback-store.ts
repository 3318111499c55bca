import { randomUUID } from "node:crypto";
import { type MemoryDatabase, subjectKey, type ThreadRef, threadKey } from "@throughline/thread-log";
import type { Feedback, FeedbackPosition, FeedbackStore } from "./feedback-store.js";

/** By database: services that share one share what people said. */
const feedbackOf = new WeakMap<MemoryDatabase, Map<string, Feedback>>();

/** All feedback of a database. */
export function feedbackInMemory(database: MemoryDatabase): readonly Feedback[] {
  return [...(feedbackOf.get(database)?.values() ?? [])];
}

export function createMemoryFeedbackStore(database: MemoryDatabase): FeedbackStore {
  const rows = feedbackOf.get(database) ?? new Map<string, Feedback>();
  feedbackOf.set(database, rows);

  function deleteWhere(isGone: (row: Feedback) => boolean): void {
    for (const [key, row] of rows) if (isGone(row)) rows.delete(key);
  }

  return {
    async put(given) {
      const listing = database.listings.get(threadKey(given.thread));
      if (!listing) return undefined;
      const key = keyOf(given.thread, given.messageId, given.author);
      const before = rows.get(key);
      const now = database.clock.now();
      const row: Feedback = {
        ...given,
        id: before?.id ?? randomUUID(),
        graphId: listing.graphId,
        threadName: listing.threadName,
        runId: given.runId ?? before?.runId,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      };
      rows.set(key, row);
      return row;
    },
    async remove(thread, messageId, author) {
      return rows.delete(keyOf(thread, messageId, author));
    },
    async list(scope, { threadId, graphId, value, author, since = 0, after, limit }) {
      const found = [...rows.values()]
        .filter(
          (row) =>
            row.thread.account === scope.account &&
            (scope.everySubject ||
              subjectKey(row.thread) === subjectKey(scope) ||
              (scope.withShared && row.thread.subject === undefined)) &&
            (threadId === undefined || row.thread.threadId === threadId) &&
            (graphId === undefined || row.graphId === graphId) &&
            (value === undefined || row.value === value) &&
            (author === undefined || (row.author ?? "") === author) &&
            row.updatedAt >= since &&
            (after === undefined || compare(positionOf(row), after) > 0),
        )
        .sort((a, b) => compare(positionOf(a), positionOf(b)));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return { feedback: page, next: found.length > limit && last ? positionOf(last) : undefined };
    },
    async moveThread(from, to, messageIds) {
      const listing = database.listings.get(threadKey(to));
      if (!listing) return;
      for (const [key, row] of [...rows]) {
        if (threadKey(row.thread) !== threadKey(from) || !messageIds.includes(row.messageId)) continue;
        rows.delete(key);
        const moved = { ...row, thread: to, threadName: listing.threadName };
        rows.set(keyOf(to, row.messageId, row.author), moved);
      }
    },
    async deleteThread(thread) {
      deleteWhere((row) => threadKey(row.thread) === threadKey(thread));
    },
    async deleteAccount(account, subject) {
      deleteWhere(
        ({ thread, author }) =>
          thread.account === account &&
          (subject === undefined || subjectKey(thread) === subject || author === subject),
      );
    },
  };
}

function keyOf(thread: ThreadRef, messageId: string, author: string | undefined): string {
  return JSON.stringify([threadKey(thread), messageId, author ?? ""]);
}

function positionOf({ updatedAt, id }: Feedback): FeedbackPosition {
  return { at: updatedAt, id };
}

/** Newest first. */
function compare(a: FeedbackPosition, b: FeedbackPosition): number {
  return b.at - a.at || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id));
}
