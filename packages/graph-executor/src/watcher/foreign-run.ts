import type { Client, Run } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type ForeignRunClaim,
  type GraphFinal,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { settleable } from "../inproc/settleable.js";
import { type FollowEnd, followRun, type Patience } from "../server/follow-run.js";
import { freeDeadRun } from "../server/free-dead-run.js";
import { failed, runOutcome } from "../server/run-outcome.js";
import { type ServerEvent, toChunk } from "../server/server-event.js";
import { isResumable } from "../server/server-run.js";
import { followByState } from "./follow-by-state.js";

export interface ForeignChunk extends UpstreamChunk {
  /** `replay` for what the run had streamed before we came. */
  readonly origin: "live" | "replay";
}

/** A run that nobody here started, as readable as one of ours. */
export interface ForeignRun {
  readonly threadId: string;
  readonly upstreamRunId: string;
  readonly graphName: string | undefined;
  readonly createdAt: string;
  /** `states`: its log belongs to its starter, so only whole states come, as `values`. */
  readonly detail: "chunks" | "states";
  /** Read once; leaving it early gives the run up, and the run itself goes on. */
  readonly stream: AsyncIterable<ForeignChunk>;
  /** Settles once `stream` was read to its end or left; never rejects. */
  readonly final: Promise<GraphFinal>;
}

export interface FollowForeignOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  readonly pollMs: number;
  readonly freesDeadRuns: boolean;
  /** Fires when the watcher closes. */
  readonly closing: AbortSignal;
}

/** A log's past arrives in one burst; the first wait between two events is where the present begins. */
const BURST_GAP_MS = 8;

export function openForeignRun(
  run: Run,
  claim: ForeignRunClaim,
  options: FollowForeignOptions,
  onEnd: () => void,
): ForeignRun {
  const { promise: final, settle } = settleable<GraphFinal>();
  return {
    threadId: run.thread_id,
    upstreamRunId: run.run_id,
    graphName: readString(run.metadata, "graph_id"),
    createdAt: run.created_at,
    detail: isResumable(run) ? "chunks" : "states",
    stream: read(run, claim, options, (value) => {
      settle(value);
      onEnd();
    }),
    final,
  };
}

async function* read(
  run: Run,
  claim: ForeignRunClaim,
  options: FollowForeignOptions,
  settle: (final: GraphFinal) => void,
): AsyncGenerator<ForeignChunk, void, undefined> {
  const leaving = new AbortController();
  const leave = AbortSignal.any([leaving.signal, claim.lost, options.closing]);
  const events = follow(run, options, leave);
  let origin: ForeignChunk["origin"] = run.status === "pending" ? "live" : "replay";
  let end: FollowEnd | undefined;
  let read = 0;
  try {
    for (;;) {
      const askedAt = options.clock.now();
      const step = await events.next();
      if (step.done) {
        end = step.value;
        break;
      }
      // The first event waits for the connection and not for the run.
      if (read++ > 0 && options.clock.now() - askedAt >= BURST_GAP_MS) origin = "live";
      if (step.value.event !== "metadata") yield { ...toChunk(step.value), origin };
    }
  } finally {
    leaving.abort();
    const last = end ?? { kind: "left" };
    settle(await finalOf(run, last, options));
    await (last.kind === "left" ? claim.release() : claim.finish());
  }
}

function follow(
  run: Run,
  options: FollowForeignOptions,
  leave: AbortSignal,
): AsyncGenerator<ServerEvent, FollowEnd, undefined> {
  const upstream = { threadId: run.thread_id, upstreamRunId: run.run_id };
  const { lostAfterMs } = options.patience;
  if (!isResumable(run)) return followByState(upstream, { ...options, lostAfterMs, leave });
  // Nobody here may stop a run that somebody else started.
  return followRun(upstream, { ...options, stop: new AbortController().signal, leave });
}

async function finalOf(run: Run, end: FollowEnd, options: FollowForeignOptions): Promise<GraphFinal> {
  const upstream = { threadId: run.thread_id, upstreamRunId: run.run_id };
  if (end.kind === "left") {
    return failed(upstream, "error", new ThroughlineError("conflict", "The run is no longer followed here."));
  }
  if (end.kind === "dead" && options.freesDeadRuns) {
    // Best effort: a thread that stays busy says so to the next run.
    await freeDeadRun(upstream, options).catch(() => {});
  }
  const boundMs = options.patience.lostAfterMs;
  return runOutcome(upstream, end, { ...options, boundMs, stopped: false });
}
