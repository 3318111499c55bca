import {
  addCheckpointCounts,
  type Checkpointer,
  NO_CHECKPOINTS,
  pruneMemoryCheckpoints,
} from "@throughline/graph-executor";
import { admitInMemory, type MemoryDatabase, subjectKey, threadKey } from "@throughline/thread-log";
import type { ClaimedTick, Cron, CronScope, CronTick } from "../../crons/cron.js";
import { type CronEntry, type CronStore, RETAINED_TICKS } from "../../crons/cron-store.js";
import { claimCron } from "../../crons/plan-tick.js";
import type { RetentionStore } from "../../operations/retention-store.js";
import type { Page } from "../../threads/paging.js";

interface MemoryTick {
  tick: CronTick;
  retryAt: number | undefined;
}

interface MemoryCrons {
  readonly crons: Map<string, Cron>;
  /** Ticks by cron, in order of arrival. */
  readonly ticks: Map<string, MemoryTick[]>;
}

/** Crons by database; services that share a database share its crons. */
const cronsOf = new WeakMap<MemoryDatabase, MemoryCrons>();

/** All crons of a database, with their ticks. */
export function cronsInMemory(
  database: MemoryDatabase,
): readonly { readonly cron: Cron; readonly ticks: readonly CronTick[] }[] {
  const held = cronsOf.get(database);
  return [...(held?.crons.values() ?? [])].map((cron) => ({
    cron,
    ticks: (held?.ticks.get(cron.id) ?? []).map(({ tick }) => tick),
  }));
}

export function createMemoryCronStore(
  database: MemoryDatabase,
  now: () => number = () => database.clock.now(),
): CronStore {
  const held: MemoryCrons = cronsOf.get(database) ?? { crons: new Map(), ticks: new Map() };
  cronsOf.set(database, held);
  const { crons } = held;

  const ticksOf = (id: string): MemoryTick[] => held.ticks.get(id) ?? [];
  const inScope = (cron: Cron, scope: CronScope) =>
    cron.account === scope.account && subjectKey(cron) === subjectKey(scope);
  const named = (scope: CronScope, id: string) => {
    const cron = crons.get(id);
    return cron && inScope(cron, scope) ? cron : undefined;
  };
  const entryOf = (cron: Cron): CronEntry => ({ cron, lastTick: newestFirst(ticksOf(cron.id))[0] });

  function storeTick(tick: CronTick, leaseMs: number): void {
    const retryAt = tick.outcome.kind === "pending" ? tick.claimedAt + leaseMs : undefined;
    const ticks = [...ticksOf(tick.cronId), { tick, retryAt }];
    const retained = new Set(newestFirst(ticks).slice(0, RETAINED_TICKS));
    held.ticks.set(
      tick.cronId,
      ticks.filter((one) => retained.has(one.tick) || one.retryAt !== undefined),
    );
  }

  function findTick(tick: CronTick): MemoryTick | undefined {
    return ticksOf(tick.cronId).find((one) => one.tick.id === tick.id);
  }

  return {
    now: async () => now(),
    // Rows are not encoded here, so none can fail to decode.
    onBadRow() {},
    async create(account, limit, make) {
      if ([...crons.values()].filter((cron) => cron.account === account).length >= limit) return undefined;
      const cron = make(now());
      admitInMemory(database, { account: cron.account, subject: cron.subject });
      crons.set(cron.id, cron);
      return cron;
    },
    async find(scope, id) {
      const cron = named(scope, id);
      return cron && entryOf(cron);
    },
    async list(scope, page) {
      const found = [...crons.values()].filter((cron) => inScope(cron, scope));
      found.sort((a, b) => compareCrons([a.createdAt, a.id], [b.createdAt, b.id]));
      return pageOf(
        found,
        page,
        (cron, { at, id }) => compareCrons([cron.createdAt, cron.id], [at, id]) > 0,
      ).map(entryOf);
    },
    async change(scope, id, apply) {
      const cron = named(scope, id);
      if (!cron) return undefined;
      const changed = apply(cron, now());
      crons.set(id, changed);
      return entryOf(changed);
    },
    async remove(scope, id) {
      if (!named(scope, id)) return false;
      held.ticks.delete(id);
      return crons.delete(id);
    },
    async removeAll(account, subject) {
      const gone = [...crons.values()].filter(
        (cron) => cron.account === account && (subject === undefined || subjectKey(cron) === subject),
      );
      for (const { id } of gone) {
        held.ticks.delete(id);
        crons.delete(id);
      }
      return gone.length;
    },
    async ticks(scope, id, page) {
      if (!named(scope, id)) return [];
      const newest = newestFirst(ticksOf(id));
      return pageOf(
        newest,
        page,
        (tick, after) => compareCrons([tick.claimedAt, tick.id], [after.at, after.id]) < 0,
      );
    },
    async addTick(scope, id, leaseMs, make) {
      const cron = named(scope, id);
      if (!cron) return undefined;
      const tick = make(cron, now());
      storeTick(tick, leaseMs);
      return { cron, tick };
    },
    async claimDue(limit, leaseMs) {
      const at = now();
      const dueAt = (cron: Cron) => cron.dueAt ?? Number.POSITIVE_INFINITY;
      const due = [...crons.values()].filter((cron) => dueAt(cron) <= at).sort((a, b) => dueAt(a) - dueAt(b));
      const ticks: ClaimedTick[] = [];
      const decided: CronTick[] = [];
      const claimed = due.slice(0, limit).map((cron) => claimCron(cron, at));
      for (const { cron, tick } of claimed) {
        crons.set(cron.id, cron);
        if (!tick || ticksOf(cron.id).some((one) => one.tick.id === tick.id)) continue;
        storeTick(tick, leaseMs);
        if (tick.outcome.kind === "pending") ticks.push({ cron, tick });
        else decided.push(tick);
      }
      return { crons: claimed.length, ticks, decided };
    },
    async claimPending(limit, leaseMs) {
      const at = now();
      const overdue = [...held.ticks.values()].flat().filter((one) => (one.retryAt ?? at + 1) <= at);
      return overdue.slice(0, limit).flatMap((one) => {
        const cron = crons.get(one.tick.cronId);
        if (!cron) return [];
        one.tick = { ...one.tick, attempt: one.tick.attempt + 1 };
        one.retryAt = at + leaseMs;
        return [{ cron, tick: one.tick }];
      });
    },
    async settle(tick, outcome) {
      const found = findTick(tick);
      if (!found) return false;
      const { kind: before } = found.tick.outcome;
      if (before === "started" || (before !== "pending" && outcome.kind !== "started")) return false;
      found.tick = { ...found.tick, outcome };
      found.retryAt = undefined;
      return true;
    },
    async postpone(tick, ms) {
      const found = findTick(tick);
      if (found?.retryAt !== undefined) found.retryAt = now() + ms;
    },
    async untilDue() {
      const times = [
        ...[...crons.values()].map(({ dueAt }) => dueAt),
        ...[...held.ticks.values()].flat().map(({ retryAt }) => retryAt),
      ].filter((time) => time !== undefined);
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
  };
}

function newestFirst(ticks: readonly MemoryTick[]): CronTick[] {
  return ticks.map(({ tick }) => tick).sort((a, b) => compareCrons([b.claimedAt, b.id], [a.claimedAt, a.id]));
}

function pageOf<T>(
  items: readonly T[],
  { after, limit }: Page,
  isAfter: (item: T, position: NonNullable<Page["after"]>) => boolean,
): T[] {
  return items.filter((item) => !after || isAfter(item, after)).slice(0, limit);
}

function compareCrons(a: readonly [number, string], b: readonly [number, string]): number {
  if (a[0] !== b[0]) return a[0] - b[0];
  if (a[1] === b[1]) return 0;
  return a[1] < b[1] ? -1 : 1;
}

/** Age after which a stop that created the thread has expired. */
const STOPS_EXPIRED_MS = 3_600_000;

/** Creates the retention store. In memory everything is one page, and no run starts during pruning. */
export function createMemoryRetentionStore(
  database: MemoryDatabase,
  checkpointer: Checkpointer,
): RetentionStore {
  return {
    async pruneCheckpoints(retention, { isDryRun = false }) {
      const busy = new Set(
        [...database.runs.values()]
          .filter(({ status }) => status === "running" || status === "queued")
          .map(({ thread }) => threadKey(thread)),
      );
      const counts = [...database.threads.values()]
        .filter(({ thread }) => !busy.has(threadKey(thread)))
        .map(({ thread: { threadId } }) =>
          pruneMemoryCheckpoints(checkpointer, {
            threadId,
            retention,
            now: database.clock.now(),
            isDryRun,
          }),
        );
      return {
        checkpoints: counts.reduce(addCheckpointCounts, NO_CHECKPOINTS),
        threads: counts.filter(({ checkpoints }) => checkpoints > 0).length,
        next: undefined,
      };
    },
    async deleteUnstartedThreads(limit) {
      const started = new Set([...database.runs.values()].map(({ thread }) => threadKey(thread)));
      const unstarted = [...database.threads].filter(
        ([key, { fence, createdAt }]) =>
          fence === 0n && createdAt < database.clock.now() - STOPS_EXPIRED_MS && !started.has(key),
      );
      for (const [key] of unstarted.slice(0, limit)) database.threads.delete(key);
      return Math.min(limit, unstarted.length);
    },
    measure: async () => ({ entries: 0, entryBytes: 0, runs: 0, threads: 0 }),
  };
}
