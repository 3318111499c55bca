import {
  foldCase,
  formatListingToken,
  type ListingPosition,
  parseListingToken,
  searchText,
  type ThreadDirectory,
  type ThreadListing,
} from "../thread-directory.js";
import { subjectKey, threadKey } from "../thread-ref.js";
import type { MemoryDatabase, MemoryListing } from "./database.js";

/** Instances that share a database share its directory. */
export function createMemoryThreadDirectory({ listings: rows }: MemoryDatabase): ThreadDirectory {
  return {
    async list(scope, query) {
      const after = query.after === undefined ? undefined : parseListingToken(query.after);
      const wanted = query.search === undefined ? "" : foldCase(query.search);
      const found = [...rows.values()]
        .filter(
          (row) =>
            row.thread.account === scope.account &&
            (scope.everySubject ||
              subjectKey(row.thread) === subjectKey(scope) ||
              (scope.withShared && row.thread.subject === undefined)) &&
            (query.graphId === undefined || row.graphId === query.graphId) &&
            (query.status === undefined || row.status === query.status) &&
            (query.isArchived === undefined || row.isArchived === query.isArchived) &&
            searchText(row.title ?? row.derivedTitle, row.threadName).includes(wanted) &&
            (after === undefined || compare(positionOf(row), after) > 0),
        )
        .sort((a, b) => compare(positionOf(a), positionOf(b)));
      const threads = found.slice(0, query.limit);
      const last = threads.at(-1);
      return {
        threads: threads.map(toListing),
        next: found.length > query.limit && last ? formatListingToken(positionOf(last)) : undefined,
      };
    },
    async find(thread) {
      const row = rows.get(threadKey(thread));
      return row && toListing(row);
    },
    async change(thread, { title, isArchived, model, forkedFrom }) {
      const row = rows.get(threadKey(thread));
      if (!row) return undefined;
      if (title !== undefined) row.title = title ?? undefined;
      if (isArchived !== undefined) row.isArchived = isArchived;
      if (model !== undefined) row.model = model ?? undefined;
      if (forkedFrom !== undefined) row.forkedFrom = forkedFrom;
      return toListing(row);
    },
    async deleteThread(thread) {
      rows.delete(threadKey(thread));
    },
    async deleteAccount(account, subject) {
      for (const [key, { thread }] of rows) {
        if (thread.account === account && (subject === undefined || subjectKey(thread) === subject)) {
          rows.delete(key);
        }
      }
    },
  };
}

function toListing(row: MemoryListing): ThreadListing {
  return { ...row, title: row.title ?? row.derivedTitle, isTitledByPerson: row.title !== undefined };
}

function positionOf({ lastActivityAt, thread }: MemoryListing): ListingPosition {
  return { lastActivityAt, subject: subjectKey(thread), threadId: thread.threadId };
}

/** Newest first; by key where two moments are one. */
function compare(a: ListingPosition, b: ListingPosition): number {
  if (a.lastActivityAt !== b.lastActivityAt) return b.lastActivityAt - a.lastActivityAt;
  return compareText(b.subject, a.subject) || compareText(b.threadId, a.threadId);
}

function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
