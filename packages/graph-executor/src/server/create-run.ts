import type { Client } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type Dialect,
  type JsonObject,
  type RunConfig,
  ThroughlineError,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { unknownAgent } from "../provider/unknown-agent.js";
import { pause } from "./pause.js";
import { activeRuns, findOwnRun, OWN_ATTEMPT_KEY, OWN_RUN_KEY, ownRunId } from "./server-run.js";
import { threadMissing } from "./server-thread.js";
import { isUnreachable, statusOf, toUpstreamError } from "./upstream-failure.js";
import { whileUnreachable } from "./while-unreachable.js";

export interface RunOrder {
  /** Ours; the upstream gives its own. */
  readonly runId: string;
  readonly attempt: number;
  readonly threadId: string;
  readonly graphName: string;
  readonly start: RunStart;
  readonly dialect: Dialect;
  /** Stays with the thread: later runs there begin with it. */
  readonly configurable: JsonObject;
  /** Of this run alone. */
  readonly metadata: JsonObject;
  readonly config: RunConfig;
  /** The part of `configurable` that is the graph's own: LangGraph's `context`. */
  readonly context: JsonObject;
}

export type RunStart =
  | { readonly input: JsonObject | null }
  | { readonly resume: Readonly<Record<string, unknown>> };

export interface CreateOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** How long the server may be out of reach before the run is refused. */
  readonly connectMs: number;
  /** R24: how long a thread that says it is busy is asked again. */
  readonly busyMs: number;
}

type StreamMode = "messages-tuple" | "events" | "updates" | "values" | "custom" | "tasks" | "tools";

/**
 * Everything the stream adapter reads. `values` brings `checkpoints` envelopes with it, which the mode itself would lack.
 * `tasks` beside `events` says where a run stands: events do not tell a failed node from one that goes on.
 */
const STREAM_MODES: Readonly<Record<Dialect, readonly StreamMode[]>> = {
  modes: ["messages-tuple", "updates", "values", "custom", "tasks", "tools"],
  events: ["events", "updates", "values", "custom", "tasks"],
};

/** What a dialect does without where a server lacks it, and refuses the whole request for it: Python's has no `tools`. */
const DISPENSABLE: Readonly<Record<Dialect, StreamMode>> = { modes: "tools", events: "tasks" };

const PAUSE_MS = 100;
const LISTED = 100;

/**
 * Gives a function that creates the upstream run of an order exactly once and tells its id. A create whose answer was lost
 * may have happened, so it is looked for before anything is sent again (R25).
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
        const isBusy = saysBusy(error);
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

/** 422 is how JavaScript's server says that it is busy, in plain text; Python's objects to a request with it, in JSON. */
function saysBusy(error: unknown): boolean {
  const status = statusOf(error);
  return status === 409 || (status === 422 && !textOf(error).startsWith("{"));
}

function textOf(error: unknown): string {
  return readString(error, "text") ?? "";
}

/** No answer, or one from something between us and the server, or from a server in trouble. */
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

/** The run that an earlier try made. A thread that does not exist is reported as busy, so it is told apart here. */
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

/** Servers differ in how they say that there is no such graph; Python's says 404 also where the thread is missing. */
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
