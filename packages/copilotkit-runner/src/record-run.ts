import type { Clock, Envelope, ErrorCode, Fence, JsonObject, PayloadOf, Timer } from "@throughline/ai-core";
import type {
  FinalStatus,
  Finish,
  LeasedRun,
  LeaseKeeper,
  ThreadLog,
  ThreadRef,
} from "@throughline/thread-log";
import { createRunEnvelopes } from "./conversation/conversation.js";
import {
  type AgUiEvent,
  type AgUiMessage,
  endsOf,
  isObject,
  isTerminal,
  textOf,
  toPlainEvent,
  trackOpen,
} from "./events.js";
import { runStarted } from "./follow.js";

export interface RecordRunDeps {
  readonly log: ThreadLog;
  readonly keeper: LeaseKeeper;
  readonly clock: Clock;
  /** How long an agent may take to end after a stop. */
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
  readonly newMessages: readonly AgUiMessage[];
  /** Aborted when this instance shuts down. */
  readonly closing: AbortSignal;
}

/**
 * Runs an agent to its end, with or without subscribers, and appends its events unchanged to the thread's log. The boundaries
 * are the runner's own: one RUN_STARTED, before the agent starts, so that a person's messages are stored even if the process
 * dies; and one terminal, after which nothing follows. Never rejects.
 */
export async function recordRun(deps: RecordRunDeps, run: RecordedRun): Promise<void> {
  const { clock, describeError } = deps;
  const { leased, agent, input, newMessages, closing } = run;
  const ids: RunIds = { threadId: input.threadId, runId: input.runId };
  const { thread, runId, attempt } = leased.run;
  const agentId = agent.agentId ?? "agent";
  const envelopes = createRunEnvelopes({ clock, threadId: thread.threadId, runId, attempt, agentId });
  const over = new AbortController();
  let open: readonly AgUiEvent[] = [];
  let isStopping = false;
  let grace: Timer | undefined;

  const queue = createAppendQueue({
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

  /** Abandons the run: another instance may have ended it, so this one must write no more of it. */
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

  const releaseLease = deps.keeper.keep(leased.fence, { lost: leave, expired: leave, stop });
  closing.addEventListener("abort", shutDown, { once: true });
  queue.push([envelopes.start(input.runId), envelopes.event(firstEvent(ids, input, newMessages))]);
  if (leased.run.stopRequested) end(stopped(ids));
  else await Promise.race([work(), aborted(over.signal)]);
  grace?.cancel();
  // A terminal may be emitted long before the agent is done, and the agent may never be: the run is over.
  void agent.detachActiveRun?.().catch(deps.onError);
  await queue.drained();
  closing.removeEventListener("abort", shutDown);
  releaseLease();
}

/** The run's RUN_STARTED. Messages are sent in it, because clients dedupe them there by id. */
function firstEvent(ids: RunIds, input: AgentInput, newMessages: readonly AgUiMessage[]): AgUiEvent {
  const { threadId, runId } = ids;
  const { parentRunId } = input;
  return {
    ...runStarted(threadId, runId),
    ...(parentRunId !== undefined && { parentRunId }),
    ...(newMessages.length > 0 && {
      input: {
        threadId,
        runId,
        state: {},
        messages: [...newMessages],
        tools: [],
        context: [],
        forwardedProps: {},
      },
    }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

export interface RunIds {
  /** The client's own id. */
  readonly threadId: string;
  readonly runId: string;
}

/** The end of a run: the event for clients, and the entries of log and registry. */
interface RunEnding {
  readonly event: AgUiEvent;
  readonly entry: PayloadOf<"run_end">;
  readonly status: FinalStatus;
}

/** Creates AG-UI's RUN_ERROR. It has no fields for ids; they are in metadata, which clients of both protocol versions retain. */
export function runError({ threadId, runId }: RunIds, code: ErrorCode, message: string): AgUiEvent {
  return { type: "RUN_ERROR", message, code, metadata: { throughline: { threadId, runId, code } } };
}

export function failed(ids: RunIds, code: ErrorCode, message: string): RunEnding {
  return {
    event: runError(ids, code, message),
    entry: { status: "error", error: { code, message } },
    status: code === "run_lost" ? "lost" : "error",
  };
}

/** The end of a stopped run, which is no error. AG-UI 0.0 fails on the outcome `cancelled`: the status is in metadata. */
export function stopped({ threadId, runId }: RunIds): RunEnding {
  return {
    event: {
      type: "RUN_FINISHED",
      threadId,
      runId,
      metadata: { throughline: { threadId, runId, status: "cancelled" } },
    },
    entry: { status: "cancelled" },
    status: "cancelled",
  };
}

/** The agent's own terminal, with the ids of the run's start: some agents end it with others, or none. */
function ended({ threadId, runId }: RunIds, event: AgUiEvent): RunEnding {
  if (event.type === "RUN_ERROR") {
    const message = textOf(event.message) ?? "The agent failed.";
    return {
      event: { ...event, message },
      entry: { status: "error", error: { code: "run_failed", message } },
      status: "error",
    };
  }
  const outcome: JsonObject = isObject(event.outcome) ? event.outcome : {};
  if (outcome.type === "cancelled") return stopped({ threadId, runId });
  const status = outcome.type === "interrupt" ? "interrupted" : "success";
  return { event: { ...event, threadId, runId }, entry: { status }, status };
}
/** The methods of an AG-UI agent, of any version, that a runner needs. */
export interface Agent {
  readonly agentId?: string | undefined;
  runAgent(
    parameters: Pick<AgentInput, "runId">,
    subscriber: { onEvent(params: { readonly event: object }): Promise<void> },
  ): Promise<unknown>;
  abortRun(): void;
  /** Ends `runAgent` although the agent continues. */
  detachActiveRun?(): Promise<void>;
}

/** The fields of `RunAgentInput` that the runner reads; all of them reach the agent. */
export interface AgentInput {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly messages: readonly object[];
  readonly resume?: unknown;
  readonly forwardedProps?: unknown;
}

/** Returns the message that people see for an agent's own error. The error itself may carry a key, a prompt or a path. */
export type DescribeError = (error: unknown) => string;

export type RawEvents = "keep" | "drop";

export interface AppendQueueOptions {
  readonly log: Pick<ThreadLog, "append">;
  readonly thread: ThreadRef;
  readonly fence: Fence;
  /** Called once, when the log refuses this run's entries: another instance has ended it, or the store refused an entry. */
  readonly onRefused: (error: unknown) => void;
}

/** Appends one run's entries to the log, in order: those pushed while an append is in flight go with the next one. */
export interface AppendQueue {
  push(envelopes: readonly Envelope[]): void;
  /** Pushes the last entries: the run ends in their commit. */
  finish(envelopes: readonly Envelope[], finish: Finish): void;
  /** `undefined` while there is room; else resolves when the waiting entries were appended. */
  room(): Promise<void> | undefined;
  /** Resolves when all pushed entries are durable, or never will be. */
  drained(): Promise<void>;
  /** Drops the waiting entries. */
  close(): void;
}

/** The most waiting entries: beyond it, an agent that is faster than the log has to wait. */
const MAX_WAITING = 512;

function createAppendQueue({ log, thread, fence, onRefused }: AppendQueueOptions): AppendQueue {
  const over = new AbortController();
  let waiting: Envelope[] = [];
  let end: Finish | undefined;
  let flight: Promise<void> | undefined;

  function close(): void {
    over.abort();
    waiting = [];
  }

  function refuse(error: unknown): void {
    if (over.signal.aborted) return;
    close();
    onRefused(error);
  }

  async function appendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      const finish = end;
      waiting = [];
      try {
        const result = await log.append(thread, batch, fence, { finish, signal: over.signal });
        if (!result.ok) refuse(undefined);
      } catch (error) {
        refuse(error);
      }
    }
    flight = undefined;
  }

  function push(envelopes: readonly Envelope[]): void {
    if (over.signal.aborted) return;
    waiting.push(...envelopes);
    flight ??= appendAll();
  }

  return {
    push,
    finish(envelopes, finish) {
      end = finish;
      push(envelopes);
    },
    room: () => (waiting.length < MAX_WAITING ? undefined : flight),
    async drained() {
      await flight;
    },
    close,
  };
}
