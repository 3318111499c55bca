import { type MemoryDatabase, subjectKey } from "@throughline/thread-log";
import { type AuditEntry, type NewAuditEntry, withoutContent } from "./audit-entry.js";
import { type AuditPosition, type AuditScope, type AuditStore, fateOf } from "./audit-store.js";

type MemoryEntry = NewAuditEntry & { readonly at: number };

/** Entries by database: services that share one share its record. */
const recordOf = new WeakMap<MemoryDatabase, Map<string, MemoryEntry>>();

/** All entries of a database. */
export function auditInMemory(database: MemoryDatabase): readonly MemoryEntry[] {
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
            (after === undefined || sign * compare(entry, after) > 0),
        )
        .sort((a, b) => sign * compare(a, b));
      const page = found.slice(0, limit);
      return {
        entries: page.map(({ thread: _, person: __, ...entry }): AuditEntry => entry),
        next: found.length > limit ? page.at(-1) : undefined,
      };
    },
    async deleteScope(scope, until, keep) {
      for (const [id, entry] of entries) {
        if (entry.at > until || !isInScope(entry, scope)) continue;
        const fate = fateOf(scope, entry.action, keep);
        if (fate === "deleted") entries.delete(id);
        if (fate === "redacted") entries.set(id, withoutContent(entry));
      }
    },
    async prune(olderThanMs, limit) {
      const old = [...entries.values()].filter(({ at }) => at < now() - olderThanMs).slice(0, limit);
      for (const { id } of old) entries.delete(id);
      return old.length;
    },
    // Nothing is encoded here, so there is nothing that can't be decoded.
    onBadRow() {},
  };
}

/** What a person did, and what was done to their threads. */
function isInScope({ account, subject, thread, person }: MemoryEntry, scope: AuditScope): boolean {
  if (account !== scope.account) return false;
  if (scope.threadId !== undefined) return thread?.threadId === scope.threadId;
  if (scope.subject === undefined) return true;
  const about = thread ? subjectKey(thread) : person;
  return subjectKey({ subject }) === scope.subject || about === scope.subject;
}

function compare(a: AuditPosition, b: AuditPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}
