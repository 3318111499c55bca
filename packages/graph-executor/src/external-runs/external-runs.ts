import type { Client, Run } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type Dialect,
  type ExternalRunName,
  type ExternalRunsPort,
  type FollowedRun,
  type GraphFinal,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { createServerEventReader } from "@throughline/coerce";
import { createNewestValues, type NewestValues } from "../inproc/graph-values.js";
import { deferred, withMissing } from "../inproc/run.js";
import { type CancelOrDetach, cancelOrDetach, detachReason } from "../server/cancel-or-detach.js";
import { type ServerEvent, statusOf, whileUnreachable } from "../server/client.js";
import { type FollowEnd, followRun, isOver, markReplayed, type Patience } from "../server/follow-run.js";
import { failed, freeDeadRun, runOutcome } from "../server/outcome.js";
import { activeRuns, dialectOf, isResumable, ownRunId, streamsMessages } from "../server/threads.js";
import { followByState } from "./follow-by-state.js";
import { newMessages } from "./new-messages.js";
import { type WatchSchedule, watchThreads } from "./watch.js";

export interface ExternalRunsOptions extends Omit<FollowExternalOptions, "pollMs"> {
  readonly pace?: WatchSchedule;
  /** Whether a run that carries one of our run ids is ours; by default every such run is. */
  readonly isOurs?: (runId: string) => boolean;
}

/** Poll interval of idle threads. Polls find only writes past the server, straight into its store: the sweep finds all others. */
const DEFAULT_PACE: WatchSchedule = { activeMs: 1_000, idleMs: 60_000 };

/** R5: finds and reads external runs on a LangGraph server. */
export function createExternalRuns(options: ExternalRunsOptions): ExternalRunsPort {
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
    follow: (run, signal) => followExternalRun(run, signal, { ...options, pollMs: pace.activeMs }),
    watch: (listener) => watchThreads({ ...options, pace, isOwn }, listener),
  };
}

interface FollowExternalOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  /** Poll interval of a run that is followed by its states. */
  readonly pollMs: number;
  readonly freesDeadRuns: boolean;
}

/** Follows an external run by its name, like one of ours. */
function followExternalRun(
  name: ExternalRunName,
  signal: AbortSignal,
  options: FollowExternalOptions,
): FollowedRun {
  const { promise: final, complete } = deferred<GraphFinal>();
  return { stream: readRun(name, signal, options, complete), final };
}

async function* readRun(
  name: ExternalRunName,
  signal: AbortSignal,
  options: FollowExternalOptions,
  complete: (final: GraphFinal) => void,
): AsyncGenerator<UpstreamChunk, void, undefined> {
  const asked = cancelOrDetach(signal);
  const values = createNewestValues();
  let end: FollowEnd | undefined;
  try {
    const found = await lookUp(name, options);
    if (!isRun(found)) end = found;
    // It ended before the reader came: its checkpoint shows how.
    else if (isOver(found)) end = { kind: "ended", run: found, sign: { kind: "none" } };
    else end = yield* chunks(found, name.dialect ?? "modes", asked, options, values);
  } finally {
    asked.giveUp("leave");
    asked.release();
    const final = await finalOf(name, end ?? { kind: "left" }, signal, options);
    complete(withMissing(final, values.missingIn(final.state)));
  }
}

type Found = Run | { readonly kind: "gone" } | { readonly kind: "refused"; readonly error: unknown };

const isRun = (found: Found): found is Run => "run_id" in found;

/** Looks up the run. Never throws: a failed lookup is the run's end for this reader. */
async function lookUp(
  { threadId, upstreamRunId }: ExternalRunName,
  options: FollowExternalOptions,
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
  asked: CancelOrDetach,
  options: FollowExternalOptions,
  values: NewestValues,
): AsyncGenerator<UpstreamChunk, FollowEnd, undefined> {
  const hasBegun = run.status !== "pending";
  const events = markReplayed(follow(run, asked, options), { clock: options.clock, hasBegun });
  const areMessagesStreamed = dialect === "events" || !isResumable(run) || streamsMessages(run);
  const toLogged = areMessagesStreamed ? withoutMetadata : withMessages(new Set());
  const readEvent = createServerEventReader();
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
    const { event: received, origin } = step.value;
    for (const event of toLogged(received)) {
      const chunk = readEvent(event.event, event.data);
      values.read(chunk);
      yield { ...chunk, origin };
    }
  }
}

const withoutMetadata = (event: ServerEvent): readonly ServerEvent[] =>
  event.event === "metadata" ? [] : [event];

/** Yields whole messages from states where no token is streamed. */
const withMessages =
  (emitted: Set<string>) =>
  (event: ServerEvent): readonly ServerEvent[] =>
    event.event === "values" ? [...newMessages(event.data, emitted), event] : withoutMetadata(event);

function follow(
  run: Run,
  { stop, leave }: CancelOrDetach,
  options: FollowExternalOptions,
): AsyncGenerator<ServerEvent, FollowEnd, undefined> {
  const upstream = { threadId: run.thread_id, upstreamRunId: run.run_id };
  if (isResumable(run)) return followRun(upstream, { ...options, stop, leave });
  const { lostAfterMs, cancelMs } = options.patience;
  return followByState(upstream, { ...options, lostAfterMs, cancelMs, stop, leave });
}

async function finalOf(
  name: ExternalRunName,
  end: FollowEnd,
  signal: AbortSignal,
  options: FollowExternalOptions,
): Promise<GraphFinal> {
  if (end.kind === "left") {
    const left = new ThroughlineError("conflict", "The run is no longer followed here.");
    return failed(name, "error", detachReason(signal) ?? left);
  }
  if (end.kind === "dead" && options.freesDeadRuns) {
    // Best effort: the next run on a thread that stays busy gets that error.
    await freeDeadRun(name, options).catch(() => {});
  }
  const stopped = signal.aborted && detachReason(signal) === undefined;
  return runOutcome(name, end, { ...options, boundMs: options.patience.lostAfterMs, stopped });
}
