import { randomUUID } from "node:crypto";
import { closeMemoryScope, type MemoryDatabase, openMemoryScope } from "@throughline/thread-log";
import {
  addCounts,
  type ClaimedDeletion,
  type Deletion,
  type DeletionScope,
  type DeletionStore,
  isClosedIn,
  type ListedThread,
  NOTHING_DELETED,
  threadHash,
} from "../../accounts/deletion.js";

interface Held {
  deletion: Deletion;
  readonly scope: DeletionScope;
  attempt: number;
  isListed: boolean;
  dueAt: number | undefined;
  readonly threads: Map<string, ListedThread & { isCheckedOff: boolean }>;
}

interface Shared {
  readonly all: Map<string, Held>;
  /** The number of the last claim by account: the account with the lowest is served next. */
  readonly turns: Map<string, number>;
}

/** Deletions by database: services that share one share its deletions. */
const deletionsOf = new WeakMap<MemoryDatabase, Shared>();

/** All deletions of a database. */
export function deletionsInMemory(database: MemoryDatabase): readonly Deletion[] {
  return [...(deletionsOf.get(database)?.all.values() ?? [])].map(({ deletion }) => deletion);
}

export function createMemoryDeletionStore(database: MemoryDatabase): DeletionStore {
  const shared: Shared = deletionsOf.get(database) ?? { all: new Map(), turns: new Map() };
  deletionsOf.set(database, shared);
  const { all, turns } = shared;
  const turnOf = ({ scope }: Held) => turns.get(scope.account) ?? 0;
  const now = () => database.clock.now();
  const keyOf = ({ thread }: ListedThread) => `${thread.subject ?? ""}\u0000${thread.threadId}`;

  function held({ deletion, attempt }: ClaimedDeletion): Held | undefined {
    const found = all.get(deletion.id);
    return found?.attempt === attempt && found.deletion.phase !== "done" ? found : undefined;
  }

  const receipts = (olderThanMs: number) =>
    [...all.values()].filter(
      ({ deletion: { finishedAt } }) => finishedAt !== undefined && finishedAt < now() - olderThanMs,
    );

  async function change(claimed: ClaimedDeletion, apply: (found: Held) => void): Promise<boolean> {
    const found = held(claimed);
    if (found) apply(found);
    return found !== undefined;
  }

  function write(found: Held, threads: readonly ListedThread[]): void {
    for (const listed of threads) {
      if (!found.threads.has(keyOf(listed)))
        found.threads.set(keyOf(listed), { ...listed, isCheckedOff: false });
    }
  }

  return {
    async begin({ scope, graphId, askedBy }) {
      const { account, subject, threadId } = scope;
      const same = [...all.values()].find(
        (one) =>
          one.deletion.phase === "deleting" &&
          one.scope.account === account &&
          one.scope.subject === subject &&
          one.scope.threadId === threadId,
      );
      if (same) return same.deletion;
      const made: Held = {
        deletion: {
          id: randomUUID(),
          account,
          subject,
          threadHash: threadId === undefined ? undefined : threadHash(threadId),
          askedBy,
          phase: "deleting",
          requestedAt: now(),
          deletedAt: undefined,
          finishedAt: undefined,
          counts: NOTHING_DELETED,
        },
        scope,
        attempt: 0,
        isListed: threadId !== undefined,
        dueAt: now(),
        threads: new Map(),
      };
      all.set(made.deletion.id, made);
      closeMemoryScope(database, made.deletion.id, scope);
      if (threadId !== undefined && graphId !== undefined) {
        write(made, [{ thread: { account, ...(subject && { subject }), threadId }, graphId }]);
      }
      return made.deletion;
    },
    find: async (id) => all.get(id)?.deletion,
    async claim(leaseMs, except = []) {
      const waiting = [...all.values()].filter(
        ({ dueAt, scope }) => dueAt !== undefined && dueAt <= now() && !except.includes(scope.account),
      );
      const [first] = waiting;
      if (!first) return undefined;
      // Within an account the oldest remains first.
      const due = waiting.reduce((best, one) => (turnOf(one) < turnOf(best) ? one : best), first);
      turns.set(due.scope.account, Math.max(0, ...turns.values()) + 1);
      due.attempt += 1;
      due.dueAt = now() + leaseMs;
      const { deletion, scope, attempt, isListed } = due;
      return { deletion, scope, attempt, isListed };
    },
    renew: (claimed, leaseMs) =>
      change(claimed, (found) => {
        found.dueAt = now() + leaseMs;
      }),
    list: (claimed, threads, isComplete) =>
      change(claimed, (found) => {
        write(found, threads);
        found.isListed = isComplete;
      }),
    async remaining({ deletion }, limit) {
      const listed = [...(all.get(deletion.id)?.threads.values() ?? [])];
      return listed
        .filter(({ isCheckedOff }) => !isCheckedOff)
        .slice(0, limit)
        .map(({ thread, graphId }) => ({ thread, graphId }));
    },
    checkOff: (claimed, threads) =>
      change(claimed, (found) => {
        for (const listed of threads) {
          const one = found.threads.get(keyOf(listed));
          if (one) one.isCheckedOff = true;
        }
      }),
    count: (claimed, counts) =>
      change(claimed, (found) => {
        found.deletion = { ...found.deletion, counts: addCounts(found.deletion.counts, counts) };
      }),
    move: (claimed, phase, dueInMs) =>
      change(claimed, (found) => {
        const isDone = phase === "done";
        if (isClosedIn(phase)) closeMemoryScope(database, found.deletion.id, found.scope);
        else openMemoryScope(database, found.deletion.id);
        found.deletion = {
          ...found.deletion,
          phase,
          ...(phase === "deleted" && { deletedAt: now() }),
          ...(isDone && { finishedAt: now() }),
        };
        found.dueAt = isDone ? undefined : now() + dueInMs;
        if (isDone) found.threads.clear();
        for (const listed of found.threads.values()) listed.isCheckedOff = false;
      }),
    postpone: (claimed, ms) =>
      change(claimed, (found) => {
        found.dueAt = now() + ms;
      }),
    countReceipts: async (olderThanMs) => receipts(olderThanMs).length,
    async deleteReceipts(olderThanMs, limit) {
      const old = receipts(olderThanMs);
      for (const { deletion } of old.slice(0, limit)) all.delete(deletion.id);
      return Math.min(limit, old.length);
    },
    async untilDue(except = []) {
      const times = [...all.values()].flatMap(({ dueAt, scope }) =>
        dueAt === undefined || except.includes(scope.account) ? [] : [dueAt],
      );
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
  };
}
