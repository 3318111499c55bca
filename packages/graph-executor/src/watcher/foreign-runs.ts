import type { ForeignRunsPort } from "@throughline/ai-core";
import { activeRuns, dialectOf, ownRunId } from "../server/server-run.js";
import { statusOf } from "../server/upstream-failure.js";
import { type FollowForeignOptions, followForeignRun } from "./follow-foreign-run.js";
import type { WatchPace } from "./watch-plan.js";
import { watchThreads } from "./watch-threads.js";

export interface ForeignRunsOptions extends Omit<FollowForeignOptions, "pollMs"> {
  readonly pace?: WatchPace;
  /** Whether a run that carries one of our run ids is ours; by default every such run is. */
  readonly isOurs?: (runId: string) => boolean;
}

/** Idle looks find only what was written past the server, straight into its store: everything else the sweep finds. */
const DEFAULT_PACE: WatchPace = { activeMs: 1_000, idleMs: 60_000 };

/** R5: what others run on a LangGraph server, found and read. */
export function createForeignRuns(options: ForeignRunsOptions): ForeignRunsPort {
  const { client, pace = DEFAULT_PACE, isOurs = () => true } = options;
  const isOwn = (runId: string | undefined) => runId !== undefined && isOurs(runId);
  return {
    async active(threadId) {
      try {
        const runs = await activeRuns(client, threadId);
        return runs
          .filter((run) => !isOwn(ownRunId(run)))
          .map((run) => ({ threadId, upstreamRunId: run.run_id, dialect: dialectOf(run) }));
      } catch (error) {
        if (statusOf(error) === 404) return [];
        throw error;
      }
    },
    follow: (run, signal) => followForeignRun(run, signal, { ...options, pollMs: pace.activeMs }),
    watch: (listener) => watchThreads({ ...options, pace, isOwn }, listener),
  };
}
