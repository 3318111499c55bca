import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import {
  type Clock,
  deriveThreadId,
  isStoreOutage,
  type LogPosition,
  newRunId,
  systemClock,
  ThroughlineError,
  type Timer,
  toStateKey,
} from "@throughline/ai-core";
import type { Lease, ThreadRef } from "@throughline/thread-log";
import { type AgUiEvent, isMessage, isObject, isTerminal } from "./events.js";
import {
  cursorOf,
  type EmittedEvent,
  encodeCursor,
  followConversation,
  followRun,
  readConversation,
  runStarted,
} from "./follow.js";
import { clientRunId, endLostRuns } from "./lost-runs.js";
import {
  type Agent,
  type AgentInput,
  type DescribeError,
  type RawEvents,
  type RunIds,
  recordRun,
  runError,
  stopped,
} from "./record-run.js";
import { openStores, type RunnerStore, type Stores } from "./stores.js";

export interface RunnerOptions {
  /** The store of the runs. Default: an embedded PostgreSQL in `.throughline/postgres`. */
  readonly store?: RunnerStore | undefined;
  /**
   * The account that owns the threads: equal ids of two accounts are two threads. A function is evaluated at each call, and
   * may read the account from an `AsyncLocalStorage` that the request was entered with. Default `default`.
   */
  readonly account?: string | (() => string) | undefined;
  /**
   * Marks every event with the cursor that `Last-Event-ID` (or `x-last-event-id`) takes, in `metadata.throughline.cursor`. For
   * clients of your own: AG-UI clients copy an event's metadata into the message it builds. Default `false`.
   */
  readonly cursors?: boolean | undefined;
  /** Whether RAW events, which are as large as an agent's library makes them, are stored and shown. Default `keep`. */
  readonly rawEvents?: RawEvents | undefined;
  /** The message that people see for an error that an agent threw. Default: a fixed sentence, because errors may carry secrets. */
  readonly describeError?: DescribeError | undefined;
  /** Logs an error. Default `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How long a run stays open when its process is gone. Default 15 s. */
  readonly leaseMs?: number | undefined;
  /** How long an agent may take to end after a stop. Default 5 s. */
  readonly stopGraceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

export interface RunRequest {
  readonly threadId: string;
  readonly agent: Agent;
  readonly input: AgentInput;
}

export interface ConnectRequest {
  readonly threadId: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A stream of events; never throws. Aborting `signal` ends the stream, and never the run. */
export type EventSource = (signal: AbortSignal) => AsyncIterable<AgUiEvent>;

/** CopilotKit's `AgentRunner` without its runtime: `ThroughlineRunner` wraps it as that class. */
export interface Runner {
  /** The run begins at once, whether its events are read or not. */
  run(request: RunRequest): EventSource;
  connect(request: ConnectRequest): EventSource;
  isRunning(threadId: string): Promise<boolean>;
  stop(threadId: string, runId?: string): Promise<boolean>;
  /** Ends this instance's runs with the error `shutting_down`, and closes the stores. */
  close(): Promise<void>;
}

const DEFAULT_LEASE_MS = 15_000;
const DEFAULT_STOP_GRACE_MS = 5_000;
/** The part of a thread's key that names its graph: agents share a thread's conversation, as in CopilotKit's own runner. */
const GRAPH_NAME = "copilotkit";

export function createRunner(options: RunnerOptions = {}): Runner {
  const { account = "default", cursors = false, rawEvents = "keep" } = options;
  const { leaseMs = DEFAULT_LEASE_MS, stopGraceMs = DEFAULT_STOP_GRACE_MS, clock = systemClock } = options;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const describeError = options.describeError ?? (() => "The agent failed. The server's log says why.");
  const lease: Lease = { owner: randomUUID(), leaseMs };
  const closing = new AbortController();
  // One listener for each run.
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<void>>();
  let opened: Promise<Stores> | undefined;
  let timer: Timer | undefined;

  /** Opens the stores with the first call: a module that makes a runner may be loaded by a build that serves nothing. */
  function stores(): Promise<Stores> {
    if (closing.signal.aborted) {
      return Promise.reject(new ThroughlineError("shutting_down", "This runner was closed."));
    }
    opened ??= openStores(options.store ?? { kind: "embedded" }, { clock, lease, onError }).then(
      (open) => {
        pollLostRuns(open);
        return open;
      },
      (error) => {
        // The next call tries an unavailable database again.
        opened = undefined;
        throw error;
      },
    );
    return opened;
  }

  function pollLostRuns(open: Stores): void {
    if (closing.signal.aborted) return;
    timer = clock.schedule(leaseMs / 3, () => {
      endLostRuns({ ...open, lease, clock })
        .catch((error) => isStoreOutage(error) || onError(error))
        .finally(() => pollLostRuns(open));
    });
  }

  function refOf(threadId: string): ThreadRef {
    const owner = typeof account === "function" ? account() : account;
    return {
      account: owner,
      threadId: deriveThreadId({ account: owner, graphName: GRAPH_NAME, threadName: threadId }),
    };
  }

  type Begun =
    | { readonly kind: "begun"; readonly runId: string; readonly after: LogPosition }
    | { readonly kind: "known"; readonly runId: string }
    | { readonly kind: "stopped"; readonly events: readonly AgUiEvent[] };

  async function begin({ threadId, agent, input }: RunRequest, thread: ThreadRef): Promise<Begun> {
    const open = await stores();
    const ids = idsOf(threadId, input.runId);
    const agentId = agent.agentId ?? "agent";
    await endLostRuns({ ...open, lease, clock });
    const result = await open.registry.start({
      ...lease,
      thread,
      stateKey: toStateKey(GRAPH_NAME, threadId),
      runId: newRunId(clock),
      alias: isResume(input) ? await aliasOfResume(open, thread, input.runId) : input.runId,
      graphId: agentId,
      origin: { kind: "client" },
      start: { kind: "input", messages: [] },
      request: { threadId, agentId, runId: input.runId },
      strategy: "reject",
      listing: { threadName: threadId, derivedTitle: undefined },
    });
    switch (result.kind) {
      case "started": {
        const { conversation } = await readConversation(open.log, thread);
        const known = new Set(conversation.messages.map(({ id }) => id));
        const newMessages = plainMessages(input).filter(({ id }) => !known.has(id));
        const { fence, head, run } = result;
        const work = recordRun(
          { ...open, clock, stopGraceMs, rawEvents, describeError, onError },
          {
            leased: { run, fence, head },
            agent,
            input: { ...input, threadId },
            newMessages,
            closing: closing.signal,
          },
        ).finally(() => running.delete(work));
        running.add(work);
        return { kind: "begun", runId: run.runId, after: head };
      }
      // The same request again, after its response was lost.
      case "attached":
        return { kind: "known", runId: result.run.runId };
      case "cancelled":
        return { kind: "stopped", events: [runStarted(ids.threadId, ids.runId), stopped(ids).event] };
      default:
        throw new ThroughlineError("busy", "A run is open in this thread. Wait until it ends, or stop it.");
    }
  }

  function run(request: RunRequest): EventSource {
    const { threadId, input } = request;
    const ids = idsOf(threadId, input.runId);
    const thread = attempt(() => refOf(threadId));
    const begun = thread.then((ref) => begin(request, ref));
    begun.catch(() => {});
    return (signal) =>
      emitted(ids, signal, async function* () {
        const begins = await begun;
        if (begins.kind === "stopped")
          return yield* begins.events.map((event) => ({ event, position: undefined }));
        const { log } = await stores();
        const from = { log, thread: await thread, signal };
        yield* begins.kind === "begun"
          ? followRun({ ...from, runId: begins.runId, after: begins.after })
          : followConversation({ ...from, threadId, after: undefined, active: begins.runId });
      });
  }

  function connect({ threadId, headers }: ConnectRequest): EventSource {
    const thread = attempt(() => refOf(threadId));
    thread.catch(() => {});
    return (signal) =>
      emitted(idsOf(threadId, `connect-${randomUUID()}`), signal, async function* () {
        const { log, registry } = await stores();
        const ref = await thread;
        const active = (await registry.active(ref))?.runId;
        yield* followConversation({ log, thread: ref, threadId, after: cursorOf(headers), active, signal });
      });
  }

  /** Emits a source's events, and its failure as an event, because clients take a stream that fails for one that ended. */
  async function* emitted(
    ids: RunIds,
    signal: AbortSignal,
    source: () => AsyncIterable<EmittedEvent>,
  ): AsyncGenerator<AgUiEvent, void> {
    let isOpen = false;
    try {
      for await (const { event, position } of source()) {
        isOpen = event.type === "RUN_STARTED" || (isOpen && !isTerminal(event));
        yield cursors && position ? marked(event, position) : event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isOpen) yield runStarted(ids.threadId, ids.runId);
      yield failure(ids, error);
    }
  }

  function failure(ids: RunIds, error: unknown): AgUiEvent {
    if (error instanceof ThroughlineError) return runError(ids, error.code, error.message);
    onError(error);
    return isStoreOutage(error)
      ? runError(ids, "store_unavailable", "The database that keeps runs is away. Try again.")
      : runError(ids, "internal", "Something failed on our side.");
  }

  return {
    run,
    connect,
    async isRunning(threadId) {
      const thread = refOf(threadId);
      const open = await stores();
      await endLostRuns({ ...open, lease, clock });
      return (await open.registry.active(thread)) !== undefined;
    },
    async stop(threadId, runId) {
      const thread = refOf(threadId);
      const { registry } = await stores();
      const active = await registry.active(thread);
      if (!active || (runId !== undefined && clientRunId(active) !== runId)) return false;
      return (await registry.stop(thread, { runId: active.runId })).kind === "stopping";
    },
    async close() {
      closing.abort();
      timer?.cancel();
      await Promise.all(running);
      const open = await opened?.catch(() => undefined);
      await open?.close();
    },
  };
}

/** Whether an input resumes a run from an interrupt. */
function isResume({ resume, forwardedProps }: AgentInput): boolean {
  if (Array.isArray(resume) && resume.length > 0) return true;
  return isObject(forwardedProps) && isObject(forwardedProps.command) && "resume" in forwardedProps.command;
}

/**
 * The alias of a run that resumes an interrupt. CopilotKit sends the response under the id of the interrupted run, so the id
 * alone does not distinguish a repeated response from the next one: it is the same request only while its run is open.
 */
async function aliasOfResume({ registry }: Stores, thread: ThreadRef, runId: string): Promise<string> {
  const active = await registry.active(thread);
  return active?.alias !== undefined && clientRunId(active) === runId
    ? active.alias
    : `${runId}/${randomUUID()}`;
}

function idsOf(threadId: string, runId: string): RunIds {
  return { threadId, runId };
}

async function attempt<Result>(work: () => Result): Promise<Result> {
  return work();
}

function plainMessages({ messages }: AgentInput) {
  const plain: unknown = JSON.parse(JSON.stringify(messages));
  return (Array.isArray(plain) ? plain : []).filter(isMessage);
}

function marked(event: AgUiEvent, position: LogPosition): AgUiEvent {
  const metadata = isObject(event.metadata) ? event.metadata : {};
  const ours = isObject(metadata.throughline) ? metadata.throughline : {};
  return { ...event, metadata: { ...metadata, throughline: { ...ours, cursor: encodeCursor(position) } } };
}
