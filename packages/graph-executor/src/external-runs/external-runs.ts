import type { Client, Run } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type Dialect,
  type FollowedRun,
  type ForeignRunName,
  type ForeignRunsPort,
  type GraphFinal,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { createServerEventReader } from "@throughline/coerce";
import { createNewestValues, type NewestValues } from "../inproc/graph-values.js";
import { settleable, withMissing } from "../inproc/run.js";
import { leavingReason, type StopOrLeave, stopOrLeave } from "../server/cancel-or-detach.js";
import { type ServerEvent, statusOf, whileUnreachable } from "../server/client.js";
import { type FollowEnd, followRun, isOver, markReplayed, type Patience } from "../server/follow-run.js";
import { failed, freeDeadRun, runOutcome } from "../server/outcome.js";
import { activeRuns, dialectOf, isResumable, ownRunId, tellsMessages } from "../server/threads.js";
import { followByState } from "./follow-by-state.js";
import { newMessages } from "./new-messages.js";
import { type WatchPace, watchThreads } from "./watch.js";

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

interface FollowForeignOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  /** How often a run that is told by its states is looked at. */
  readonly pollMs: number;
  readonly freesDeadRuns: boolean;
}

/** A foreign run, read like one of ours, by its name. */
function followForeignRun(
  name: ForeignRunName,
  signal: AbortSignal,
  options: FollowForeignOptions,
): FollowedRun {
  const { promise: final, settle } = settleable<GraphFinal>();
  return { stream: readRun(name, signal, options, settle), final };
}

async function* readRun(
  name: ForeignRunName,
  signal: AbortSignal,
  options: FollowForeignOptions,
  settle: (final: GraphFinal) => void,
): AsyncGenerator<UpstreamChunk, void, undefined> {
  const asked = stopOrLeave(signal);
  const values = createNewestValues();
  let end: FollowEnd | undefined;
  try {
    const found = await lookUp(name, options);
    if (!isRun(found)) end = found;
    // It ended before we came: its checkpoint tells how.
    else if (isOver(found)) end = { kind: "ended", run: found, sign: { kind: "none" } };
    else end = yield* chunks(found, name.dialect ?? "modes", asked, options, values);
  } finally {
    asked.giveUp("leave");
    asked.release();
    const final = await finalOf(name, end ?? { kind: "left" }, signal, options);
    settle(withMissing(final, values.missingIn(final.state)));
  }
}

type Found = Run | { readonly kind: "gone" } | { readonly kind: "refused"; readonly error: unknown };

const isRun = (found: Found): found is Run => "run_id" in found;

/** Never throws: what can't be found out is how the run ended for us. */
async function lookUp(
  { threadId, upstreamRunId }: ForeignRunName,
  options: FollowForeignOptions,
): Promise<Found> {
  const { client, clock, patience } = options;
  try {
    return await whileUnreachable(() => client.runs.get(threadId, upstreamRunId), {
      clock,
      boundMs: patience.lostAfterMs,
    });
  } catch (error) {
    return statusOf(error) === 404 ? { kind: "gone" } : { kind: "refused", error };
  }
}

async function* chunks(
  run: Run,
  dialect: Dialect,
  asked: StopOrLeave,
  options: FollowForeignOptions,
  values: NewestValues,
): AsyncGenerator<UpstreamChunk, FollowEnd, undefined> {
  const hasBegun = run.status !== "pending";
  const events = markReplayed(follow(run, asked, options), { clock: options.clock, hasBegun });
  const isTold = dialect === "events" || !isResumable(run) || tellsMessages(run);
  const told = isTold ? withoutMetadata : withMessages(new Set());
  const readEvent = createServerEventReader();
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
    const { event: received, origin } = step.value;
    for (const event of told(received)) {
      const chunk = readEvent(event.event, event.data);
      values.read(chunk);
      yield { ...chunk, origin };
    }
  }
}

const withoutMetadata = (event: ServerEvent): readonly ServerEvent[] =>
  event.event === "metadata" ? [] : [event];

/** Where no token is streamed, states tell the messages, whole. */
const withMessages =
  (told: Set<string>) =>
  (event: ServerEvent): readonly ServerEvent[] =>
    event.event === "values" ? [...newMessages(event.data, told), event] : withoutMetadata(event);

function follow(
  run: Run,
  { stop, leave }: StopOrLeave,
  options: FollowForeignOptions,
): AsyncGenerator<ServerEvent, FollowEnd, undefined> {
  const upstream = { threadId: run.thread_id, upstreamRunId: run.run_id };
  if (isResumable(run)) return followRun(upstream, { ...options, stop, leave });
  const { lostAfterMs, cancelMs } = options.patience;
  return followByState(upstream, { ...options, lostAfterMs, cancelMs, stop, leave });
}

async function finalOf(
  name: ForeignRunName,
  end: FollowEnd,
  signal: AbortSignal,
  options: FollowForeignOptions,
): Promise<GraphFinal> {
  if (end.kind === "left") {
    const left = new ThroughlineError("conflict", "The run is no longer followed here.");
    return failed(name, "error", leavingReason(signal) ?? left);
  }
  if (end.kind === "dead" && options.freesDeadRuns) {
    // Best effort: a thread that stays busy says so to the next run.
    await freeDeadRun(name, options).catch(() => {});
  }
  const stopped = signal.aborted && leavingReason(signal) === undefined;
  return runOutcome(name, end, { ...options, boundMs: options.patience.lostAfterMs, stopped });
}
