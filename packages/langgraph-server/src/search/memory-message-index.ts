import { type MemoryDatabase, subjectKey, type ThreadRef, threadKey } from "@throughline/thread-log";
import type { FoundMessage, MessageIndex } from "./message-index.js";
import { searchWords } from "./search-words.js";

interface Said extends FoundMessage {
  readonly graphId: string;
  readonly words: readonly string[];
}

/** By database: services that share one share its index. */
const indexOf = new WeakMap<MemoryDatabase, Map<string, Said>>();

export function createMemoryMessageIndex(database: MemoryDatabase): MessageIndex {
  /** In the order in which it was said. */
  const rows = indexOf.get(database) ?? new Map<string, Said>();
  indexOf.set(database, rows);

  function deleteWhere(isGone: (row: Said) => boolean): void {
    for (const [key, row] of rows) if (isGone(row)) rows.delete(key);
  }

  return {
    async put(changes) {
      for (const { thread, said, gone } of changes) {
        for (const messageId of gone) rows.delete(keyOf(thread, messageId));
        const listing = database.listings.get(threadKey(thread));
        if (!listing) continue;
        for (const message of said) {
          const { graphId } = listing;
          const words = searchWords(message.said);
          rows.set(keyOf(thread, message.messageId), { ...message, thread, graphId, words });
        }
      }
    },
    async search(scope, { graphId, words, limit }) {
      const found = new Map<string, FoundMessage>();
      for (const row of [...rows.values()].reverse()) {
        const isInScope =
          row.thread.account === scope.account &&
          (scope.everySubject ||
            subjectKey(row.thread) === subjectKey(scope) ||
            (scope.withShared && row.thread.subject === undefined));
        const key = threadKey(row.thread);
        if (!isInScope || found.has(key) || (graphId !== undefined && row.graphId !== graphId)) continue;
        if (!words.every((word) => row.words.some((known) => known.startsWith(word)))) continue;
        const { thread, messageId, role, said } = row;
        found.set(key, { thread, messageId, role, said });
      }
      return [...found.values()].slice(0, limit);
    },
    async deleteThread(thread) {
      deleteWhere((row) => threadKey(row.thread) === threadKey(thread));
    },
    async deleteAccount(account, subject) {
      deleteWhere(
        ({ thread }) =>
          thread.account === account && (subject === undefined || subjectKey(thread) === subject),
      );
    },
  };
}

function keyOf(thread: ThreadRef, messageId: string): string {
  return `${threadKey(thread)}\u0000${messageId}`;
}
