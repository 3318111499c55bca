import { type MemoryDatabase, subjectKey, type ThreadRef, threadKey } from "@throughline/thread-log";
import type { ThreadDirectory, ThreadListing, ThreadStatus } from "./thread-directory.js";
import { formatThreadPlace, parseThreadPlace, type ThreadPlace } from "./thread-page.js";
import { foldCase, searchText } from "./thread-title.js";

interface Row {
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  readonly createdAt: number;
  title: string | undefined;
  derivedTitle: string | undefined;
  isArchived: boolean;
  status: ThreadStatus;
  lastRunId: string;
  token: bigint;
  lastActivityAt: number;
}

/** Instances that share a database share its directory. */
const directories = new WeakMap<MemoryDatabase, Map<string, Row>>();

export function createMemoryThreadDirectory(database: MemoryDatabase): ThreadDirectory {
  const { clock } = database;
  const rows = directories.get(database) ?? new Map<string, Row>();
  directories.set(database, rows);

  return {
    async runStarted({ thread, graphId, threadName, runId, token, derivedTitle }) {
      const key = threadKey(thread);
      const row = rows.get(key);
      const now = clock.now();
      if (!row) {
        rows.set(key, {
          thread,
          graphId,
          threadName,
          createdAt: now,
          title: undefined,
          derivedTitle,
          isArchived: false,
          status: "running",
          lastRunId: runId,
          token,
          lastActivityAt: now,
        });
        return;
      }
      row.derivedTitle ??= derivedTitle;
      if (token < row.token) return;
      row.status = "running";
      row.lastRunId = runId;
      row.token = token;
      row.lastActivityAt = now;
    },
    async runEnded({ thread, token, status }) {
      const row = rows.get(threadKey(thread));
      if (!row || token < row.token) return;
      row.status = status;
      row.token = token;
      row.lastActivityAt = clock.now();
    },
    async list(scope, query) {
      const after = query.after === undefined ? undefined : parseThreadPlace(query.after);
      const wanted = query.search === undefined ? "" : foldCase(query.search);
      const found = [...rows.values()]
        .filter(
          (row) =>
            row.thread.account === scope.account &&
            (scope.everySubject || subjectKey(row.thread) === subjectKey(scope)) &&
            (query.graphId === undefined || row.graphId === query.graphId) &&
            (query.status === undefined || row.status === query.status) &&
            (query.isArchived === undefined || row.isArchived === query.isArchived) &&
            searchText(row.title ?? row.derivedTitle, row.threadName).includes(wanted) &&
            (after === undefined || compare(placeOf(row), after) > 0),
        )
        .sort((a, b) => compare(placeOf(a), placeOf(b)));
      const threads = found.slice(0, query.limit);
      const last = threads.at(-1);
      return {
        threads: threads.map(toListing),
        next: found.length > query.limit && last ? formatThreadPlace(placeOf(last)) : undefined,
      };
    },
    async find(thread) {
      const row = rows.get(threadKey(thread));
      return row && toListing(row);
    },
    async change(thread, { title, isArchived }) {
      const row = rows.get(threadKey(thread));
      if (!row) return undefined;
      if (title !== undefined) row.title = title ?? undefined;
      if (isArchived !== undefined) row.isArchived = isArchived;
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

function toListing(row: Row): ThreadListing {
  return { ...row, title: row.title ?? row.derivedTitle, isTitledByPerson: row.title !== undefined };
}

function placeOf({ lastActivityAt, thread }: Row): ThreadPlace {
  return { lastActivityAt, subject: subjectKey(thread), threadId: thread.threadId };
}

/** Newest first; by key where two moments are one. */
function compare(a: ThreadPlace, b: ThreadPlace): number {
  if (a.lastActivityAt !== b.lastActivityAt) return b.lastActivityAt - a.lastActivityAt;
  return compareText(b.subject, a.subject) || compareText(b.threadId, a.threadId);
}

function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
