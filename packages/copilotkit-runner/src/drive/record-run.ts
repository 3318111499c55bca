import type { Clock, Timer } from "@throughline/ai-core";
import type { LeasedRun, LeaseKeeper, ThreadLog } from "@throughline/thread-log";
import { createRunEnvelopes } from "../conversation/run-envelopes.js";
import { type AgUiEvent, type AgUiMessage, isTerminal, toPlainEvent } from "../events/ag-ui-event.js";
import { endsOf, trackOpen } from "../events/open-items.js";
import { runStarted } from "../read/prelude.js";
import type { Agent, AgentInput, DescribeError, RawEvents } from "./agent.js";
import { createEntryQueue } from "./entry-queue.js";
import { ended, failed, type RunEnding, type RunIds, stopped } from "./terminals.js";

export interface RecordRunDeps {
  readonly log: ThreadLog;
  readonly keeper: LeaseKeeper;
  readonly clock: Clock;
  /** How long an agent may take to end after it was asked to. */
  readonly stopGraceMs: number;
  readonly rawEvents: RawEvents;
  readonly describeError: DescribeError;
  readonly onError: (error: unknown) => void;
}

export interface RecordedRun {
  readonly leased: LeasedRun;
  readonly agent: Agent;
  readonly input: AgentInput;
  /** The messages of the input that the thread does not hold. */
  readonly said: readonly AgUiMessage[];
  /** Aborted when this instance shuts down. */
  readonly closing: AbortSignal;
}

/**
 * Runs an agent to its end, watched or not, and appends its events to the thread's log as they are. The boundaries are the
 * runner's own: one RUN_STARTED, before the agent is asked, so that what a person said is kept even if the process dies; and
 * one terminal, after which nothing follows. Never rejects.
 */
export async function recordRun(deps: RecordRunDeps, run: RecordedRun): Promise<void> {
  const { clock, describeError } = deps;
  const { leased, agent, input, said, closing } = run;
  const ids: RunIds = { threadId: input.threadId, runId: input.runId };
  const { thread, runId, attempt } = leased.run;
  const agentId = agent.agentId ?? "agent";
  const envelopes = createRunEnvelopes({ clock, threadId: thread.threadId, runId, attempt, agentId });
  const over = new AbortController();
  let open: readonly AgUiEvent[] = [];
  let isStopping = false;
  let grace: Timer | undefined;

  const queue = createEntryQueue({
    log: deps.log,
    thread,
    fence: leased.fence,
    onRefused(error) {
      if (error !== undefined) deps.onError(error);
      leave();
    },
  });

  function end({ event, entry, status }: RunEnding): void {
    if (over.signal.aborted) return;
    over.abort();
    const closed = event.type === "RUN_FINISHED" ? endsOf(open) : [];
    const last = [...closed, event].map((one) => envelopes.event(one));
    queue.finish([...last, envelopes.end(entry)], { status });
  }

  /** Another instance may have ended the run: nothing more of it is written here. */
  function leave(): void {
    queue.close();
    over.abort();
    abortAgent();
  }

  function stop(): void {
    if (isStopping || over.signal.aborted) return;
    isStopping = true;
    abortAgent();
    grace = clock.schedule(deps.stopGraceMs, () => end(stopped(ids)));
  }

  function shutDown(): void {
    end(failed(ids, "shutting_down", "The server that ran the agent was shut down."));
    abortAgent();
  }

  function abortAgent(): void {
    try {
      agent.abortRun();
    } catch (error) {
      deps.onError(error);
    }
  }

  async function onEvent({ event }: { readonly event: object }): Promise<void> {
    if (over.signal.aborted) return;
    const plain = toPlainEvent(event);
    if (!plain) throw new TypeError("An event of the agent can't be written as JSON.");
    if (plain.type === "RUN_STARTED" || (plain.type === "RAW" && deps.rawEvents === "drop")) return;
    if (isTerminal(plain))
      return end(isStopping && plain.type === "RUN_ERROR" ? stopped(ids) : ended(ids, plain));
    open = trackOpen(open, plain);
    queue.push([envelopes.event(plain)]);
    await queue.room();
  }

  async function work(): Promise<void> {
    try {
      await agent.runAgent(input, { onEvent });
      end(isStopping ? stopped(ids) : failed(ids, "run_failed", "The agent stopped without ending its run."));
    } catch (error) {
      if (isStopping) return end(stopped(ids));
      if (!over.signal.aborted) deps.onError(error);
      end(failed(ids, "run_failed", describeError(error)));
    }
  }

  const stopKeeping = deps.keeper.keep(leased.fence, { lost: leave, expired: leave, stop });
  closing.addEventListener("abort", shutDown, { once: true });
  queue.push([envelopes.start(input.runId), envelopes.event(firstEvent(ids, input, said))]);
  if (leased.run.stopRequested) end(stopped(ids));
  else await Promise.race([work(), aborted(over.signal)]);
  grace?.cancel();
  // A terminal may come long before an agent is done, or it may never be: the run is over.
  void agent.detachActiveRun?.().catch(deps.onError);
  await queue.drained();
  closing.removeEventListener("abort", shutDown);
  stopKeeping();
}

/** Messages travel here, where clients know those they have by their ids. */
function firstEvent(ids: RunIds, input: AgentInput, said: readonly AgUiMessage[]): AgUiEvent {
  const { threadId, runId } = ids;
  const { parentRunId } = input;
  return {
    ...runStarted(threadId, runId),
    ...(parentRunId !== undefined && { parentRunId }),
    ...(said.length > 0 && {
      input: { threadId, runId, state: {}, messages: [...said], tools: [], context: [], forwardedProps: {} },
    }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
