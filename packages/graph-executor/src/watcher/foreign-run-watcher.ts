import type { Run } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type ForeignRunClaimPort,
  type GraphCheckpoint,
  systemClock,
  type Timer,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import type { Patience } from "../server/follow-run.js";
import { createServerClient, type ServerAddress } from "../server/server-client.js";
import { DEFAULT_PATIENCE } from "../server/server-provider.js";
import { activeRuns, ownRunId } from "../server/server-run.js";
import { readCheckpoint } from "../server/thread-checkpoint.js";
import { statusOf } from "../server/upstream-failure.js";
import { type ForeignRun, openForeignRun } from "./foreign-run.js";
import {
  planWatch,
  type Sighting,
  startWatch,
  type WatchEffect,
  type WatchPace,
  type WatchState,
} from "./watch-plan.js";

/** A thread changed, and no run of it was there to be read. */
export interface StateChange {
  readonly threadId: string;
  readonly checkpoint: GraphCheckpoint;
  /** R31: the run that made the change and passed unwatched; absent for a plain write. */
  readonly passedRun?: { readonly upstreamRunId: string };
}

export interface ForeignRunListener {
  /** Its stream must be read: nobody else will. */
  onRun(run: ForeignRun): void;
  onStateChange(change: StateChange): void;
}

export interface ForeignRunWatcherOptions extends ServerAddress {
  readonly claims: ForeignRunClaimPort;
  readonly listener: ForeignRunListener;
  /** Whether a run that carries one of our run ids is ours; by default every such run is. */
  readonly isOurs?: (runId: string) => boolean;
  readonly clock?: Clock;
  readonly pace?: WatchPace;
  readonly patience?: Partial<Patience>;
  /** As for the provider of the same server. */
  readonly freesDeadRuns?: boolean;
}

export interface ForeignRunWatcher {
  /** Looks after a thread until the function it gives is called; as often as somebody asks for it. */
  watch(threadId: string): () => void;
  /** Threads that are busy upstream right now, whoever made them so. */
  busyThreads(): Promise<readonly string[]>;
  /** Stops looking, and gives up what is being followed: another instance can take it. */
  close(): void;
}

const DEFAULT_PACE: WatchPace = { activeMs: 1_000, idleMs: 15_000 };
const PAGE = 100;

interface Watch {
  watchers: number;
  state: WatchState;
  timer: Timer | undefined;
}

/** R31: sees to it that runs nobody here started reach the same log as ours. */
export function createForeignRunWatcher(options: ForeignRunWatcherOptions): ForeignRunWatcher {
  const client = createServerClient(options);
  const { claims, listener, clock = systemClock, pace = DEFAULT_PACE, isOurs = () => true } = options;
  const closing = new AbortController();
  const watches = new Map<string, Watch>();
  const following = new Set<string>();
  const followOptions = {
    client,
    clock,
    patience: { ...DEFAULT_PATIENCE, ...options.patience },
    pollMs: pace.activeMs,
    freesDeadRuns: options.freesDeadRuns ?? false,
    closing: closing.signal,
  };

  const isOwn = (runId: string | undefined) => runId !== undefined && isOurs(runId);

  async function look(threadId: string): Promise<readonly [Sighting, readonly Run[], GraphCheckpoint?]> {
    const runs = await activeRuns(client, threadId);
    const active = runs.map((run) => ({ upstreamRunId: run.run_id, isOurs: isOwn(ownRunId(run)) }));
    if (active.length > 0) return [{ active }, runs];
    const state = await client.threads.getState(threadId, undefined, { subgraphs: true });
    const checkpoint = await readCheckpoint(client, state);
    if (!checkpoint) return [{ active }, runs];
    const upstreamRunId = readString(state.metadata, "run_id");
    const seen = {
      checkpointId: checkpoint.checkpointId,
      isOurs: isOwn(checkpoint.runId),
      ...(upstreamRunId !== undefined && { upstreamRunId }),
    };
    return [{ active, checkpoint: seen }, runs, checkpoint];
  }

  async function poll(threadId: string, watch: Watch): Promise<void> {
    try {
      const [sighting, runs, checkpoint] = await look(threadId);
      const [state, effects] = planWatch(watch.state, sighting, pace);
      watch.state = state;
      for (const effect of effects) await perform(threadId, effect, runs, checkpoint);
    } catch (error) {
      // A thread that does not exist yet is as quiet as one where nothing happens; so is a server that is away.
      const first = statusOf(error) === 404 ? null : watch.state.checkpointId;
      watch.state = {
        ...watch.state,
        checkpointId: watch.state.checkpointId ?? first,
        waitMs: Math.min(watch.state.waitMs * 2, pace.idleMs),
      };
    }
    if (watches.get(threadId) === watch) schedule(threadId, watch, watch.state.waitMs);
  }

  async function perform(
    threadId: string,
    effect: WatchEffect,
    runs: readonly Run[],
    checkpoint: GraphCheckpoint | undefined,
  ): Promise<void> {
    if (closing.signal.aborted) return;
    if (effect.kind === "follow") {
      const run = runs.find(({ run_id }) => run_id === effect.upstreamRunId);
      if (run && !following.has(run.run_id)) await take(run);
      return;
    }
    if (!checkpoint) return;
    const { upstreamRunId } = effect;
    if (upstreamRunId === undefined) return listener.onStateChange({ threadId, checkpoint });
    const claim = await claims.claim(threadId, upstreamRunId);
    if (!claim) return;
    listener.onStateChange({ threadId, checkpoint, passedRun: { upstreamRunId } });
    await claim.finish();
  }

  async function take(run: Run): Promise<void> {
    following.add(run.run_id);
    const claim = await claims.claim(run.thread_id, run.run_id).catch(() => undefined);
    if (!claim) return void following.delete(run.run_id);
    listener.onRun(openForeignRun(run, claim, followOptions, () => following.delete(run.run_id)));
  }

  function schedule(threadId: string, watch: Watch, waitMs: number): void {
    watch.timer = clock.schedule(waitMs, () => void poll(threadId, watch));
  }

  return {
    watch(threadId) {
      const watch = watches.get(threadId) ?? { watchers: 0, state: startWatch(pace), timer: undefined };
      watch.watchers++;
      if (!watches.has(threadId)) {
        watches.set(threadId, watch);
        schedule(threadId, watch, 0);
      }
      let isWatching = true;
      return () => {
        if (!isWatching) return;
        isWatching = false;
        watch.watchers--;
        if (watch.watchers > 0) return;
        watch.timer?.cancel();
        watches.delete(threadId);
      };
    },
    async busyThreads() {
      const found: string[] = [];
      for (;;) {
        const page = await client.threads.search({ status: "busy", limit: PAGE, offset: found.length });
        found.push(...page.map(({ thread_id }) => thread_id));
        if (page.length < PAGE) return found;
      }
    },
    close() {
      closing.abort();
      for (const watch of watches.values()) watch.timer?.cancel();
      watches.clear();
    },
  };
}
