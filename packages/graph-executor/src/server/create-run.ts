import type { Client } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type Dialect,
  type FreshRunStart,
  type GraphRunRequest,
  type GraphStatePort,
  type Json,
  type JsonObject,
  type Message,
  type RunConfig,
  ThroughlineError,
} from "@throughline/ai-core";
import { readString, toPlain } from "@throughline/coerce";
import { unknownAgent } from "../provider.js";
import { frontendOf, givenContext, runConfigurable, toGraphMessage } from "../run-input.js";
import { isUnreachable, pause, statusOf, toUpstreamError, whileUnreachable } from "./client.js";
import {
  activeRuns,
  ensureThread,
  findOwnRun,
  graphNameOf,
  moveHead,
  OWN_ATTEMPT_KEY,
  OWN_RUN_KEY,
  ownRunId,
  threadMissing,
} from "./threads.js";
import { rewindBeforeInterrupt } from "./updates.js";

interface RunOrder {
  /** Ours; the upstream gives its own. */
  readonly runId: string;
  readonly attempt: number;
  readonly threadId: string;
  readonly graphName: string;
  readonly start: RunStart;
  readonly dialect: Dialect;
  /** Stays with the thread: later runs there begin with it. */
  readonly configurable: JsonObject;
  /** Metadata of this run alone. */
  readonly metadata: JsonObject;
  readonly config: RunConfig;
  /** The part of `configurable` that is the graph's own: LangGraph's `context`. */
  readonly context: JsonObject;
}

type RunStart =
  | { readonly input: JsonObject | null }
  | { readonly resume: Readonly<Record<string, unknown>> };

export interface CreateOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** How long the server may be out of reach before the run is refused. */
  readonly connectMs: number;
  /** R24: how long starts on a busy thread are retried. */
  readonly busyMs: number;
}

type StreamMode = "messages-tuple" | "events" | "updates" | "values" | "custom" | "tasks" | "tools";

/**
 * Everything the stream adapter reads. `values` brings `checkpoints` envelopes with it, which the mode itself would lack.
 * `tasks` next to `events` shows a run's progress: events do not distinguish a failed node from one that continues.
 */
const STREAM_MODES: Readonly<Record<Dialect, readonly StreamMode[]>> = {
  modes: ["messages-tuple", "updates", "values", "custom", "tasks", "tools"],
  events: ["events", "updates", "values", "custom", "tasks"],
};

/** The optional mode of each dialect, for servers that refuse a whole request with a mode they lack: Python's has no `tools`. */
const DISPENSABLE: Readonly<Record<Dialect, StreamMode>> = { modes: "tools", events: "tasks" };

const PAUSE_MS = 100;
const LISTED = 100;

/**
 * Returns a function that creates the upstream run of an order exactly once and returns its id. A create whose response was
 * lost may have happened, so the run is searched for before the request is resent (R25).
 */
export function createRunMaker(options: CreateOptions): (order: RunOrder) => Promise<string> {
  const { client, clock, busyMs } = options;
  const modes = { ...STREAM_MODES };
  let takesContext = true;

  return async function makeRun(order) {
    const { dialect } = order;
    const deadline = clock.now() + options.connectMs;
    let busyUntil: number | undefined;
    for (;;) {
      try {
        return await postRun(client, order, modes[dialect], takesContext);
      } catch (error) {
        const dispensable = DISPENSABLE[dialect];
        if (refusesModes(error) && modes[dialect].includes(dispensable)) {
          modes[dialect] = modes[dialect].filter((mode) => mode !== dispensable);
          continue;
        }
        if (refusesContext(error) && takesContext) {
          takesContext = false;
          continue;
        }
        const isBusy = isBusyResponse(error);
        if (!isBusy && !mayHaveHappened(error)) throw await refused(client, error, order);
        const found = await whileUnreachable(() => existing(client, order), {
          clock,
          boundMs: Math.max(0, deadline - clock.now()),
        }).catch((lookupError: unknown) => Promise.reject(toUpstreamError(lookupError)));
        if (found !== undefined) return found;
        busyUntil = isBusy ? (busyUntil ?? clock.now() + busyMs) : undefined;
        if (clock.now() >= (busyUntil ?? deadline)) {
          throw isBusy ? await busy(client, order.threadId, busyMs) : toUpstreamError(error);
        }
        await pause(clock, PAUSE_MS);
      }
    }
  };
}

/**
 * Whether the server reports a busy thread. JavaScript's does so by 422 and plain text; Python's 422 is an invalid request, in
 * JSON.
 */
function isBusyResponse(error: unknown): boolean {
  const status = statusOf(error);
  return status === 409 || (status === 422 && !textOf(error).startsWith("{"));
}

function textOf(error: unknown): string {
  return readString(error, "text") ?? "";
}

/** Whether the create may have happened: there was no response, or one from a proxy before the server, or from a failing server. */
function mayHaveHappened(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined ? isUnreachable(error) : status >= 500 || isUnreachable(error);
}

function refusesModes(error: unknown): boolean {
  return statusOf(error) === 422 && textOf(error).includes("stream_mode");
}

/** Python's server takes either `configurable` or `context`, and makes each of the other. */
function refusesContext(error: unknown): boolean {
  const status = statusOf(error);
  return (status === 400 || status === 422) && /both configurable and context/i.test(textOf(error));
}

async function postRun(
  client: Client,
  order: RunOrder,
  modes: readonly StreamMode[],
  takesContext: boolean,
): Promise<string> {
  const { runId, attempt, start, configurable, metadata, context } = order;
  const { recursion_limit, tags, metadata: own } = order.config;
  let created: string | undefined;
  const run = await client.runs.create(order.threadId, order.graphName, {
    ...("resume" in start ? { command: { resume: start.resume } } : { input: start.input }),
    // A server keeps what a run was configured with for all later runs of its thread, a fork's checkpoint included.
    config: {
      configurable: { checkpoint_id: null, ...configurable },
      ...(recursion_limit !== undefined && { recursion_limit }),
      ...(tags && { tags: [...tags] }),
    },
    ...(takesContext && Object.keys(context).length > 0 && { context }),
    metadata: { ...own, ...metadata, [OWN_RUN_KEY]: runId, [OWN_ATTEMPT_KEY]: attempt },
    streamMode: [...modes],
    streamSubgraphs: true,
    streamResumable: true,
    multitaskStrategy: "reject",
    durability: "sync",
    onRunCreated: ({ run_id }) => {
      created = run_id;
    },
  });
  return created ?? run.run_id;
}

/** The run that an earlier try made. A thread that does not exist is reported as busy, so it is distinguished here. */
async function existing(client: Client, { threadId, runId, attempt }: RunOrder): Promise<string | undefined> {
  try {
    return (await findOwnRun(client, threadId, runId, attempt))?.run_id;
  } catch (error) {
    throw statusOf(error) === 404 ? threadMissing(error) : error;
  }
}

/** `busy` that names the run to wait for: by our id where it is ours. */
export async function busy(
  client: Client,
  threadId: string,
  retryAfterMs: number,
): Promise<ThroughlineError> {
  const [active] = await activeRuns(client, threadId).catch(() => []);
  const runId = active && (ownRunId(active) ?? active.run_id);
  return new ThroughlineError("busy", "The thread is busy with another run.", {
    details: { ...(runId !== undefined && { runId }), retryAfterMs },
  });
}

/** The refusal of a create. Servers report a missing graph differently; Python's sends 404 also where the thread is missing. */
async function refused(client: Client, error: unknown, order: RunOrder): Promise<ThroughlineError> {
  const isUnknownGraph = statusOf(error) === 404 || textOf(error).includes("Invalid assistant");
  if (!isUnknownGraph) return invalidOrUnavailable(error);
  const hasThread = await client.threads.get(order.threadId).then(
    () => true,
    (lookupError: unknown) => statusOf(lookupError) !== 404,
  );
  if (!hasThread) return threadMissing(error);
  const assistants = await client.assistants.search({ limit: LISTED }).catch(() => []);
  const names = assistants.map(({ graph_id }) => graph_id).toSorted();
  return unknownAgent(order.graphName, names, error);
}

function invalidOrUnavailable(error: unknown): ThroughlineError {
  if (statusOf(error) !== 422) return toUpstreamError(error);
  return new ThroughlineError("invalid_input", "The LangGraph server did not accept the request.", {
    cause: error,
  });
}

/** Metadata key of an upstream run's identity; the graphs' model factory reads it there. */
const IDENTITY_KEY = "throughline_identity";

/** The start of a run; `go_on` continues the thread from its current state. */
export type OrderStart = FreshRunStart | { readonly kind: "go_on" };

/** Turns requests into upstream runs, and prepares the thread for them. */
export function createOrders(client: Client, states: GraphStatePort) {
  async function toRunStart(request: GraphRunRequest, start: OrderStart): Promise<RunStart> {
    switch (start.kind) {
      case "input":
        await ensureThread(client, request.threadId, graphNameOf(request.graphId));
        return { input: graphInput(request, start) };
      case "resume":
        return resume(request, start.answers);
      case "fork":
        await requireCheckpoint(request, start.checkpointId);
        await moveHead(client, request.threadId, start.checkpointId);
        return { input: start.messages.length > 0 ? graphInput(request, start) : null };
      case "go_on":
        return { input: null };
    }
  }

  /** An id that is not open is refused here: LangGraph would use the whole map as one response to some interrupt. */
  async function resume(
    request: GraphRunRequest,
    answers: Readonly<Record<string, Json>>,
  ): Promise<RunStart> {
    const ids = Object.keys(answers);
    if (ids.length === 0 && (await rewindBeforeInterrupt(client, request.threadId))) return { input: null };
    const { interrupts = [], next = [] } = (await states.getState(request)) ?? {};
    if (ids.length === 0 && interrupts.length === 0 && next.length > 0) return { input: null };
    const unknown = ids.find((id) => !interrupts.some((interrupt) => interrupt.interrupt_id === id));
    if (unknown === undefined && ids.length > 0) return { resume: answers };
    throw new ThroughlineError("conflict", "The question that was answered is no longer open.", {
      details: unknown === undefined ? {} : { interruptId: unknown },
    });
  }

  async function requireCheckpoint(request: GraphRunRequest, checkpointId: string): Promise<void> {
    if (await states.getState(request, checkpointId)) return;
    throw new ThroughlineError("not_found", "The checkpoint to run from does not exist in this thread.", {
      details: { checkpointId },
    });
  }

  return async (request: GraphRunRequest, start: OrderStart): Promise<RunOrder> => ({
    runId: request.runId,
    attempt: request.attempt,
    threadId: request.threadId,
    graphName: graphNameOf(request.graphId),
    start: await toRunStart(request, start),
    dialect: request.dialect ?? "modes",
    config: request.config ?? {},
    context: givenContext(request),
    ...identified(runConfigurable(request, {})),
  });
}

/**
 * A run's payer and its ids go to the server as the run's own metadata. `configurable` stays with the thread and becomes part of
 * every later run there, an external one's too, whose model calls would then be our caller's. These fields are null there, so that
 * what earlier versions left is overwritten.
 */
function identified(configurable: JsonObject): Pick<RunOrder, "configurable" | "metadata"> {
  const { runId, attempt, billingAccountId, virtualKeyId, ingressRequestId, traceId } = configurable;
  const identity = {
    runId,
    attempt,
    billingAccountId,
    virtualKeyId,
    ingressRequestId,
    traceId,
    executorType: "langgraph_server",
  };
  const blanks = Object.fromEntries(Object.keys(identity).map((name) => [name, null]));
  return {
    configurable: { ...configurable, ...blanks },
    metadata: { [IDENTITY_KEY]: toPlain(identity) },
  };
}

/**
 * Messages and state as one input. R26: LangGraph itself applies only keys of the graph's input schema. R30: so the
 * frontend's tools and context can be offered to every graph under the names that AG-UI's and CopilotKit's graphs know;
 * asking the server for the schema first may take it ten seconds.
 */
function graphInput(
  request: GraphRunRequest,
  { messages, state = {} }: { readonly messages: readonly Message[]; readonly state?: JsonObject },
): JsonObject {
  const { messages: _, ...clientState } = state;
  const frontend = frontendOf(request);
  return {
    ...clientState,
    "ag-ui": frontend,
    copilotkit: { actions: frontend.tools ?? [], context: frontend.context ?? [] },
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  };
}
