import { type Clock, retryStore, ThroughlineError, type Timer } from "@throughline/ai-core";
import type { ServiceObserver } from "../operations/observer.js";
import { poll } from "../operations/poller.js";
import type { NewAuditEntry } from "./audit-entry.js";
import type { AuditPage, AuditQuery, AuditRetention, AuditScope, AuditStore } from "./audit-store.js";

/** The audit record of all accounts. */
export interface AuditLog {
  /** Throws `store_unavailable` while so much waits to be written that nothing more may happen unrecorded. */
  admit(): void;
  /** Queues an entry. It is written in the background, over outages of the store too. */
  record(entry: NewAuditEntry): void;
  list(account: string, query: AuditQuery): Promise<AuditPage>;
  /** Applies `keep` to entries in scope up to `until`, by the store's clock, for a deletion. */
  deleteScope(scope: AuditScope, until: number): Promise<void>;
  /** Resolves when everything recorded before is written. */
  flush(): Promise<void>;
  /** Writes queued entries, with retries for a while in an outage; reports those that remain unwritten. */
  close(): Promise<void>;
}

export interface AuditOptions {
  /** How much of the record is retained when its subject is deleted. Default `receipts`. */
  readonly keep?: AuditRetention;
  /** Maximum age of entries. Default 400 days; 0 retains them for ever. */
  readonly maxAgeMs?: number;
  /** Entries that may wait to be written. Default 10,000. */
  readonly maxQueued?: number;
}

export interface AuditLogDeps extends AuditOptions {
  readonly store: AuditStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed" | "badRow" | "storeUnavailable">;
}

interface Queued {
  entry: NewAuditEntry;
  readonly since: number;
}

export const DEFAULT_AUDIT_KEEP: AuditRetention = "receipts";
export const DEFAULT_AUDIT_AGE_MS = 400 * 86_400_000;
const DEFAULT_MAX_QUEUED = 10_000;
const BATCH = 200;
/** Refusals wait this long for others of their kind: repeated at will, they must not fill the record. */
const MERGE_MS = 1_000;
const CLOSE_GRACE_MS = 3_000;
const PRUNE_EVERY_MS = 3_600_000;
const PER_PRUNE = 500;

export function createAuditLog(deps: AuditLogDeps): AuditLog {
  const { store, clock, observer, maxQueued = DEFAULT_MAX_QUEUED } = deps;
  const { keep = DEFAULT_AUDIT_KEEP, maxAgeMs = DEFAULT_AUDIT_AGE_MS } = deps;
  const closing = new AbortController();
  const queue: Queued[] = [];
  /** Refusals that still wait, by who was refused what. */
  const merging = new Map<string, Queued>();
  let writing: Promise<void> | undefined;
  let timer: Timer | undefined;
  store.onBadRow(observer.badRow);

  async function writeAll(): Promise<void> {
    timer?.cancel();
    timer = undefined;
    while (queue.length > 0) {
      const batch = queue.slice(0, BATCH);
      // Entries in flight are no longer merged with.
      for (const queued of batch) {
        const kind = kindOf(queued.entry);
        if (merging.get(kind) === queued) merging.delete(kind);
      }
      await retryStore({ clock, signal: closing.signal, onOutage: observer.storeUnavailable }, () =>
        store.append(batch.map(({ entry, since }) => ({ entry, ageMs: clock.now() - since }))),
      );
      queue.splice(0, batch.length);
    }
  }

  function write(): Promise<void> {
    writing ??= writeAll()
      .catch((error: unknown) =>
        observer.failed("The audit record could not be written; it is tried again.", error),
      )
      .finally(() => {
        writing = undefined;
        if (queue.length > 0 && !closing.signal.aborted) writeSoon();
      });
    return writing;
  }

  function writeSoon(): void {
    timer ??= clock.schedule(MERGE_MS, () => void write());
  }

  function record(entry: NewAuditEntry): void {
    const isRefusal = entry.outcome === "refused";
    const same = isRefusal ? merging.get(kindOf(entry)) : undefined;
    if (same) {
      same.entry = { ...same.entry, times: same.entry.times + 1 };
      return;
    }
    const queued = { entry, since: clock.now() };
    queue.push(queued);
    if (isRefusal) {
      merging.set(kindOf(entry), queued);
      writeSoon();
    } else void write();
  }

  async function flush(): Promise<void> {
    await writing;
    if (queue.length > 0) await write();
  }

  const pruner = poll({
    clock,
    random: deps.random,
    everyMs: PRUNE_EVERY_MS,
    firstAfterMs: (PRUNE_EVERY_MS / 12) * deps.random(),
    async once(stop) {
      if (maxAgeMs === 0) return undefined;
      for (let pruned = PER_PRUNE; pruned === PER_PRUNE && !stop.aborted; ) {
        pruned = await store.prune(maxAgeMs, PER_PRUNE);
      }
      return undefined;
    },
    failed: (error) => observer.failed("Old entries of the audit record could not be deleted.", error),
  });

  return {
    admit() {
      if (queue.length < maxQueued) return;
      throw new ThroughlineError("store_unavailable", "The audit record can't be written at the moment.", {
        details: { retryAfterMs: MERGE_MS },
      });
    },
    record,
    list: (account, query) => store.list(account, query),
    deleteScope: (scope, until) => store.deleteScope(scope, until, keep),
    flush,
    async close() {
      const lastWords = clock.schedule(CLOSE_GRACE_MS, () => closing.abort());
      await pruner.close();
      await flush();
      lastWords.cancel();
      closing.abort();
      timer?.cancel();
      for (const { entry } of queue) {
        const { id, account, action, outcome, requestId } = entry;
        const details = { id, account, action, outcome, requestId };
        const lost = new ThroughlineError("store_unavailable", "It was not written before the shutdown.", {
          details,
        });
        observer.failed("An entry of the audit record is lost.", lost);
      }
    },
  };
}

/** The key by which refusals are merged into one entry. */
function kindOf({ account, subject, role, action }: NewAuditEntry): string {
  return JSON.stringify([account, subject ?? null, role, action]);
}
