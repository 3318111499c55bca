import type { Client, Run, ThreadState } from "@langchain/langgraph-sdk";
import type { Clock } from "@throughline/ai-core";
import { pause, type ServerEvent, statusOf } from "../server/client.js";
import { type FollowEnd, isOver, type UpstreamRun } from "../server/follow-run.js";
import { newMessages } from "./new-messages.js";

export interface FollowByStateOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly pollMs: number;
  readonly lostAfterMs: number;
  readonly cancelMs: number;
  /** Cancels the run upstream and follows it to its end. */
  readonly stop: AbortSignal;
  readonly leave: AbortSignal;
}

const CANCEL_POLL_MS = 40;

/**
 * Follows a run whose log can be read only once, and so belongs to the client that started it: its states are shown as they are
 * checkpointed, each new message whole, and its record shows when it is over.
 */
export async function* followByState(
  { threadId, upstreamRunId }: UpstreamRun,
  options: FollowByStateOptions,
): AsyncGenerator<ServerEvent, FollowEnd, undefined> {
  const { client, clock, pollMs, lostAfterMs, stop, leave } = options;
  const hurry = AbortSignal.any([stop, leave]);
  const emitted = new Set<string>();
  let shown: string | null | undefined;
  let failingSince: number | undefined;
  let silentSinceRestart: number | undefined;
  let cancelledAt: number | undefined;
  const wait = () =>
    cancelledAt === undefined ? pause(clock, pollMs, hurry) : pause(clock, CANCEL_POLL_MS, leave);

  for (;;) {
    if (leave.aborted) return { kind: "left" };
    let found: { readonly run: Run; readonly state: ThreadState };
    try {
      if (stop.aborted && cancelledAt === undefined) {
        await client.runs.cancel(threadId, upstreamRunId);
        cancelledAt = clock.now();
      }
      // The record first: a state read after it ended is the run's last.
      const run = await client.runs.get(threadId, upstreamRunId);
      found = { run, state: await client.threads.getState(threadId, undefined, { subgraphs: true }) };
      if (failingSince !== undefined) silentSinceRestart = clock.now();
      failingSince = undefined;
    } catch (error) {
      if (statusOf(error) === 404) return { kind: "gone" };
      failingSince ??= clock.now();
      if (clock.now() - failingSince >= lostAfterMs) return { kind: "unreachable" };
      await pause(clock, pollMs, leave);
      continue;
    }
    const { run, state } = found;
    const checkpointId = state.checkpoint?.checkpoint_id;
    if (checkpointId && checkpointId !== shown) {
      shown = checkpointId;
      silentSinceRestart = undefined;
      yield* newMessages(state.values, emitted);
      yield { event: "values", data: state.values };
    }
    if (isOver(run)) return { kind: "ended", run, sign: { kind: "none" }, state };
    if (cancelledAt !== undefined && clock.now() - cancelledAt >= options.cancelMs)
      return { kind: "unstoppable" };
    // A log that may not be touched can't prove that its run still lives.
    if (silentSinceRestart !== undefined && clock.now() - silentSinceRestart >= lostAfterMs)
      return { kind: "unreachable" };
    await wait();
  }
}
