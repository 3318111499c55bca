import { randomUUID } from "node:crypto";
import { type JsonObject, jsonObjectSchema } from "@throughline/ai-core";
import { type MemoryDatabase, subjectKey, type ThreadRef, threadKey } from "@throughline/thread-log";
import { type AuditEntry, type NewAuditEntry, withoutContent } from "../../accounts/audit-entry.js";
import {
  type AuditPosition,
  type AuditScope,
  type AuditStore,
  retentionOf,
} from "../../accounts/audit-store.js";
import type { AccountRows, ExportScope, RowKind } from "../../accounts/export-rows.js";
import type { Feedback, FeedbackPosition, FeedbackStore } from "../../threads/feedback-store.js";
import { type FoundMessage, type MessageIndex, searchWords } from "../../threads/message-index.js";
import { attachmentsInMemory } from "./memory-attachments.js";
import { cronsInMemory } from "./memory-crons.js";
import { deletionsInMemory } from "./memory-deletions.js";

type MemoryEntry = NewAuditEntry & { readonly at: number };

/** Audit entries by database: services that share one share its audit log. */
const recordOf = new WeakMap<MemoryDatabase, Map<string, MemoryEntry>>();

/** All entries of a database. */
function auditInMemory(database: MemoryDatabase): readonly MemoryEntry[] {
  return [...(recordOf.get(database)?.values() ?? [])];
}

export function createMemoryAuditStore(database: MemoryDatabase): AuditStore {
  const entries = recordOf.get(database) ?? new Map<string, MemoryEntry>();
  recordOf.set(database, entries);
  const now = () => database.clock.now();

  return {
    async append(pending) {
      for (const { entry, ageMs } of pending) {
        if (!entries.has(entry.id)) entries.set(entry.id, { ...entry, at: now() - ageMs });
      }
    },
    async list(account, { action, subject, order, after, limit }) {
      const sign = order === "oldest" ? 1 : -1;
      const found = [...entries.values()]
        .filter(
          (entry) =>
            entry.account === account &&
            (action === undefined || entry.action === action) &&
            (subject === undefined || entry.subject === subject) &&
            (after === undefined || sign * compareEntries(entry, after) > 0),
        )
        .sort((a, b) => sign * compareEntries(a, b));
      const page = found.slice(0, limit);
      return {
        entries: page.map(({ thread: _, person: __, ...entry }): AuditEntry => entry),
        next: found.length > limit ? page.at(-1) : undefined,
      };
    },
    async deleteScope(scope, until, retention) {
      for (const [id, entry] of entries) {
        if (entry.at > until || !isInScope(entry, scope)) continue;
        const fate = retentionOf(scope, entry.action, retention);
        if (fate === "deleted") entries.delete(id);
        if (fate === "redacted") entries.set(id, withoutContent(entry));
      }
    },
    async prune(olderThanMs, limit) {
      const old = [...entries.values()].filter(({ at }) => at < now() - olderThanMs).slice(0, limit);
      for (const { id } of old) entries.delete(id);
      return old.length;
    },
    // Rows are not encoded here, so none can fail to decode.
    onBadRow() {},
  };
}

/** Whether an entry is of what a person did, or of what was done to their threads. */
function isInScope({ account, subject, thread, person }: MemoryEntry, scope: AuditScope): boolean {
  if (account !== scope.account) return false;
  if (scope.threadId !== undefined) return thread?.threadId === scope.threadId;
  if (scope.subject === undefined) return true;
  const about = thread ? subjectKey(thread) : person;
  return subjectKey({ subject }) === scope.subject || about === scope.subject;
}

function compareEntries(a: AuditPosition, b: AuditPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}

/** Feedback by database: services that share one share its feedback. */
const feedbackOf = new WeakMap<MemoryDatabase, Map<string, Feedback>>();

/** All feedback of a database. */
function feedbackInMemory(database: MemoryDatabase): readonly Feedback[] {
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
      const key = feedbackKey(given.thread, given.messageId, given.author);
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
      return rows.delete(feedbackKey(thread, messageId, author));
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
            (after === undefined || compareFeedback(positionOf(row), after) > 0),
        )
        .sort((a, b) => compareFeedback(positionOf(a), positionOf(b)));
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
        rows.set(feedbackKey(to, row.messageId, row.author), moved);
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

function feedbackKey(thread: ThreadRef, messageId: string, author: string | undefined): string {
  return JSON.stringify([threadKey(thread), messageId, author ?? ""]);
}

function positionOf({ updatedAt, id }: Feedback): FeedbackPosition {
  return { at: updatedAt, id };
}

/** Orders feedback, newest first. */
function compareFeedback(a: FeedbackPosition, b: FeedbackPosition): number {
  return b.at - a.at || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id));
}

interface IndexedRow extends FoundMessage {
  readonly graphId: string;
  readonly words: readonly string[];
}

/** Message indexes by database: services that share one share its index. */
const indexOf = new WeakMap<MemoryDatabase, Map<string, IndexedRow>>();

export function createMemoryMessageIndex(database: MemoryDatabase): MessageIndex {
  /** The rows, in the order in which messages were indexed. */
  const rows = indexOf.get(database) ?? new Map<string, IndexedRow>();
  indexOf.set(database, rows);

  function deleteWhere(isGone: (row: IndexedRow) => boolean): void {
    for (const [key, row] of rows) if (isGone(row)) rows.delete(key);
  }

  return {
    async put(changes) {
      for (const { thread, said: added, gone } of changes) {
        for (const messageId of gone) rows.delete(indexKey(thread, messageId));
        const listing = database.listings.get(threadKey(thread));
        if (!listing) continue;
        for (const message of added) {
          const { graphId } = listing;
          const words = searchWords(message.said);
          rows.set(indexKey(thread, message.messageId), { ...message, thread, graphId, words });
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

function indexKey(thread: ThreadRef, messageId: string): string {
  return `${threadKey(thread)}\u0000${messageId}`;
}

/** Creates the rows of an export. In memory every kind is one page. */
export function createMemoryAccountRows(database: MemoryDatabase): AccountRows {
  return {
    async page(kind, scope) {
      return { rows: rowsOf(database, kind, scope).map(asJson), next: undefined };
    },
  };
}

function rowsOf(database: MemoryDatabase, kind: RowKind, scope: ExportScope): readonly object[] {
  const isOwn = (row: { readonly account: string; readonly subject?: string | undefined }) =>
    row.account === scope.account && (scope.subject === undefined || subjectKey(row) === scope.subject);
  const named = ({
    threadId,
    subject,
  }: {
    readonly threadId: string;
    readonly subject?: string | undefined;
  }) => ({
    threadId,
    subject: subject ?? null,
  });
  switch (kind) {
    case "threads": {
      const living = [...database.threads].filter(
        ([, { thread, deleted, fence }]) => isOwn(thread) && !deleted && fence > 0n,
      );
      return living.map(([key, { thread, stateKey, createdAt }]): JsonObject => {
        const listing = database.listings.get(key);
        return {
          ...named(thread),
          stateKey,
          graphId: listing?.graphId ?? null,
          name: listing?.threadName ?? null,
          title: listing?.title ?? null,
          derivedTitle: listing?.derivedTitle ?? null,
          isArchived: listing?.isArchived ?? null,
          status: listing?.status ?? null,
          createdAt: iso(createdAt),
          lastActivityAt: iso(listing?.lastActivityAt ?? createdAt),
        };
      });
    }
    case "runs":
      return [...database.runs.values()]
        .filter(({ thread }) => isOwn(thread))
        .map(({ thread, token: _, owner: __, leaseUntil: ___, presumedDead: ____, alias, ...run }) => ({
          ...run,
          ...named(thread),
          clientRunId: alias ?? null,
        }));
    case "questions":
      return [...database.interrupts].flatMap(([key, interrupts]) => {
        const thread = database.threads.get(key)?.thread;
        return thread && isOwn(thread)
          ? [...interrupts.values()].map((interrupt) => ({ ...interrupt, ...named(thread) }))
          : [];
      });
    case "crons":
      return cronsInMemory(database)
        .filter(({ cron }) => isOwn(cron))
        .map(({ cron }) => cron);
    case "ticks":
      return cronsInMemory(database)
        .filter(({ cron }) => isOwn(cron))
        .flatMap(({ ticks }) => ticks);
    case "files":
      return attachmentsInMemory(database)
        .filter(({ thread }) => isOwn(thread))
        .map(({ thread, attachment }) => ({ ...attachment, ...named(thread) }));
    case "feedback":
      return feedbackInMemory(database)
        .filter(
          ({ thread, author }) =>
            isOwn(thread) ||
            (author !== undefined && author === scope.subject && thread.account === scope.account),
        )
        .map(({ thread, ...feedback }) => ({ ...feedback, ...named(thread) }));
    case "receipts":
      return deletionsInMemory(database).filter(isOwn);
    case "audit":
      return auditInMemory(database).filter(isOwn);
  }
}

/** Converts a row as a database would store it: without undefined fields. */
function asJson(row: object): JsonObject {
  return jsonObjectSchema.parse(JSON.parse(JSON.stringify(row)));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
