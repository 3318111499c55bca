import type { Client } from "@langchain/langgraph-sdk";
import type {
  Clock,
  Dialect,
  ExternalRunListener,
  ExternalRunWatcher,
  GraphCheckpoint,
  Timer,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { statusOf } from "../server/client.js";
import { activeRuns, dialectOf, ownRunId, readCheckpoint } from "../server/threads.js";

/** An active run of a watched thread, as far as the plan needs to know it. */
export interface SeenRun {
  readonly upstreamRunId: string;
  readonly dialect: Dialect;
  readonly isOurs: boolean;
}

/** The result of one poll of a thread. The checkpoint is only read while nothing runs. */
export interface Sighting {
  readonly active: readonly SeenRun[];
  readonly checkpoint?: {
    readonly checkpointId: string;
    /** The upstream run that wrote it; a write outside any run names none. */
    readonly upstreamRunId?: string;
    readonly isOurs: boolean;
  };
}

export interface WatchState {
  /** Newest checkpoint accounted for; `undefined` before the first poll, which is the connect's own snapshot. */
  readonly checkpointId: string | null | undefined;
  /** Runs that are read or were reported, so that their checkpoints are not new. */
  readonly known: ReadonlySet<string>;
  readonly waitMs: number;
}

export type WatchEffect =
  | { readonly kind: "follow"; readonly upstreamRunId: string; readonly dialect: Dialect }
  /** The thread changed between two polls; by a run that came and went, or by a plain write. */
  | { readonly kind: "changed"; readonly checkpointId: string; readonly upstreamRunId?: string };

export interface WatchSchedule {
  readonly activeMs: number;
  readonly idleMs: number;
}

export function startWatch({ activeMs }: WatchSchedule): WatchState {
  return { checkpointId: undefined, known: new Set(), waitMs: activeMs };
}

/** Decides from one poll of a thread which effects follow and when to poll again. */
export function planWatch(
  state: WatchState,
  { active, checkpoint }: Sighting,
  pace: WatchSchedule,
): [state: WatchState, effects: readonly WatchEffect[]] {
  const effects: WatchEffect[] = [];
  const known = new Set(state.known);
  for (const { upstreamRunId, dialect, isOurs } of active) {
    known.add(upstreamRunId);
    if (!isOurs) effects.push({ kind: "follow", upstreamRunId, dialect });
  }
  if (effects.length > 0) return [{ ...state, known, waitMs: pace.activeMs }, effects];
  // An external run can only wait behind a run of ours.
  if (active.length > 0) return [{ ...state, known, waitMs: longer(state, pace) }, effects];

  const checkpointId = checkpoint?.checkpointId ?? null;
  if (checkpointId === state.checkpointId) {
    return [{ ...state, known, waitMs: longer(state, pace) }, effects];
  }
  const writer = checkpoint?.upstreamRunId;
  const isNew = state.checkpointId !== undefined && (writer === undefined || !known.has(writer));
  if (checkpoint && isNew && !checkpoint.isOurs) {
    effects.push({
      kind: "changed",
      checkpointId: checkpoint.checkpointId,
      ...(writer !== undefined && { upstreamRunId: writer }),
    });
  }
  // All earlier runs are before this checkpoint; the set would only grow with them.
  const remembered = new Set(writer === undefined ? [] : [writer]);
  return [{ checkpointId, known: remembered, waitMs: pace.activeMs }, effects];
}

function longer({ waitMs }: WatchState, { idleMs }: WatchSchedule): number {
  return Math.min(waitMs * 2, idleMs);
}

export interface WatchThreadsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly pace: WatchSchedule;
  /** Whether a run that carries this run id of ours, if any, is ours. */
  readonly isOwn: (runId: string | undefined) => boolean;
}

interface Watch {
  watchers: number;
  state: WatchState;
  timer: Timer | undefined;
  isPolling: boolean;
  /** The thread's record as the last sweep saw it. */
  record: string | undefined;
}

/** Threads per request of a sweep. */
const PER_SWEEP = 100;

/**
 * R31: notices changes that external clients make to threads upstream. A poll of a thread takes three requests, so an idle
 * thread is polled with increasing intervals; a frequent sweep over the records of all watched threads, a hundred to a
 * request, finds those that need a poll at once.
 */
export function watchThreads(
  options: WatchThreadsOptions,
  listener: ExternalRunListener,
): ExternalRunWatcher {
  const { client, clock, pace, isOwn } = options;
  const watches = new Map<string, Watch>();
  let sweeping: Timer | undefined;
  let closed = false;

  async function observe(threadId: string): Promise<readonly [Sighting, GraphCheckpoint?]> {
    const runs = await activeRuns(client, threadId);
    const active = runs.map((run) => ({
      upstreamRunId: run.run_id,
      dialect: dialectOf(run),
      isOurs: isOwn(ownRunId(run)),
    }));
    if (active.length > 0) return [{ active }];
    const state = await client.threads.getState(threadId, undefined, { subgraphs: true });
    const checkpoint = await readCheckpoint(client, state);
    if (!checkpoint) return [{ active }];
    const upstreamRunId = readString(state.metadata, "run_id");
    const seen = {
      checkpointId: checkpoint.checkpointId,
      isOurs: isOwn(checkpoint.runId),
      ...(upstreamRunId !== undefined && { upstreamRunId }),
    };
    return [{ active, checkpoint: seen }, checkpoint];
  }

  async function poll(threadId: string, watch: Watch): Promise<void> {
    watch.timer?.cancel();
    watch.isPolling = true;
    try {
      const [sighting, checkpoint] = await observe(threadId);
      if (watches.get(threadId) !== watch) return;
      const [state, effects] = planWatch(watch.state, sighting, pace);
      watch.state = state;
      for (const effect of effects) notify(threadId, effect, checkpoint);
    } catch (error) {
      // A thread that does not exist yet is treated as idle; so is a server in an outage.
      const first = statusOf(error) === 404 ? null : watch.state.checkpointId;
      watch.state = {
        ...watch.state,
        checkpointId: watch.state.checkpointId ?? first,
        waitMs: Math.min(watch.state.waitMs * 2, pace.idleMs),
      };
    }
    watch.isPolling = false;
    if (watches.get(threadId) === watch) schedule(threadId, watch, watch.state.waitMs);
  }

  function notify(threadId: string, effect: WatchEffect, checkpoint: GraphCheckpoint | undefined): void {
    if (effect.kind === "follow") {
      const { upstreamRunId, dialect } = effect;
      listener.onRun({ threadId, upstreamRunId, dialect });
    } else if (checkpoint) {
      const { upstreamRunId } = effect;
      const passedRun = upstreamRunId === undefined ? {} : { passedRun: { upstreamRunId } };
      listener.onStateChange({ threadId, checkpoint, ...passedRun });
    }
  }

  function schedule(threadId: string, watch: Watch, waitMs: number): void {
    watch.timer = clock.schedule(waitMs, () => void poll(threadId, watch));
  }

  async function sweep(): Promise<void> {
    const ids = [...watches.keys()];
    for (let from = 0; from < ids.length; from += PER_SWEEP) {
      // A server that is too old for this request, or unreachable, is still covered by the scheduled polls.
      await sweepSome(ids.slice(from, from + PER_SWEEP)).catch(() => {});
    }
    sweeping = undefined;
    scheduleSweep();
  }

  async function sweepSome(ids: string[]): Promise<void> {
    const found = await client.threads.search({
      ids,
      limit: ids.length,
      select: ["thread_id", "status", "updated_at"],
    });
    for (const { thread_id, status, updated_at } of found) {
      const watch = watches.get(thread_id);
      if (!watch) continue;
      const record = `${status} ${updated_at}`;
      const isNew = watch.record !== undefined && watch.record !== record;
      watch.record = record;
      if (isNew && !watch.isPolling) void poll(thread_id, watch);
    }
  }

  function scheduleSweep(): void {
    if (closed || sweeping || watches.size === 0) return;
    sweeping = clock.schedule(pace.activeMs, () => void sweep());
  }

  return {
    watch(threadId) {
      const watch = watches.get(threadId) ?? {
        watchers: 0,
        state: startWatch(pace),
        timer: undefined,
        isPolling: false,
        record: undefined,
      };
      watch.watchers++;
      if (!closed && !watches.has(threadId)) {
        watches.set(threadId, watch);
        schedule(threadId, watch, 0);
        scheduleSweep();
      }
      let isWatching = true;
      return () => {
        if (!isWatching) return;
        isWatching = false;
        watch.watchers--;
        if (watch.watchers > 0) return;
        watch.timer?.cancel();
        if (watches.get(threadId) === watch) watches.delete(threadId);
      };
    },
    close() {
      closed = true;
      sweeping?.cancel();
      for (const watch of watches.values()) watch.timer?.cancel();
      watches.clear();
    },
  };
}
