import { z } from "zod";
import type { Caller, Dialect, Profile } from "../context/run-context.js";
import type { Interrupt, RunStatus } from "../envelope/envelope.js";
import type { ThroughlineError } from "../errors/throughline-error.js";
import { type Json, type JsonObject, jsonObjectSchema } from "../json/json.js";
import type { ContextItem, FrontendTool, Message } from "../messages/message.js";
import type { EmbeddedFile, Fence } from "../ports.js";
import type { ExecutorType } from "../usage/usage.js";
import type { GraphDescriptor } from "./agent-catalog.js";

/** The start of a run's first attempt. */
export type FreshRunStart =
  /** New input. Only messages the thread does not hold yet are sent (R26). */
  | { readonly kind: "input"; readonly messages: readonly Message[]; readonly state?: JsonObject }
  /**
   * Interrupt responses by interrupt id, one or several at once. None at all continues from a breakpoint the graph was compiled
   * with, or repeats an interrupt whose response made its node fail. Where the graph no longer has the interrupted node, a
   * response ends as `graph_changed`, and `{ "__agui_cancelled__": true }` clears the pending nodes, so that the thread is idle.
   */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** Time travel: run again from a checkpoint of the past, with these messages added to it. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };

export type GraphRunStart =
  | FreshRunStart
  /** R27: recover a crashed run. Its original start is needed where nothing of it was stored. */
  | { readonly kind: "continue"; readonly original: FreshRunStart };

export interface GraphRunRequest {
  readonly runId: string;
  readonly attempt: number;
  readonly ingressRequestId: string;
  readonly caller: Caller;
  readonly graphId: string;
  /** THREAD_KEY_REQUIRED (docs/requirements.md#dev-3): derived on the server from account and state key. */
  readonly threadId: string;
  readonly stateKey: string;
  /** Where absent the graph's own model is used: `configurable` then has no key `model`. */
  readonly model?: string | undefined;
  /** Checked against the graph's context schema by the caller. */
  readonly config?: RunConfig | undefined;
  readonly start: GraphRunStart;
  readonly tools: readonly FrontendTool[];
  readonly context: readonly ContextItem[];
  readonly command?: AgentCommand | undefined;
  readonly profile: Profile;
  /** The kind of stream to request from the graph. Default `modes`. */
  readonly dialect?: Dialect | undefined;
  /** R17: presented with every checkpoint write. Required where the executor was given a `LeasePort`. */
  readonly fence?: Fence;
  /**
   * Aborted on stop, and when the run's lease is lost. A reason that is a `ThroughlineError` other than `cancelled` ends
   * the run as that error; any other reason ends it as cancelled.
   */
  readonly signal: AbortSignal;
}

/**
 * The end of a run, decided by the checkpoint and not by the stream. An `error` that is a `StoreOutage` means that the graph
 * has ended and its checkpoint can't be read right now: the run's status is still to be determined.
 */
export interface GraphFinal {
  readonly ok: boolean;
  readonly status: RunStatus;
  readonly error?: ThroughlineError;
  /** DUAL_RUN_IDS (docs/requirements.md#dev-6): the upstream's own id of the run, where there is one. */
  readonly upstreamRunId?: string;
  readonly checkpointId?: string;
  /** The checkpoint's state, and the run's values of channels that no checkpoint holds. */
  readonly state?: JsonObject;
  /** Absent where the graph has no `messages`, or no checkpoint could be read. */
  readonly messages?: readonly Message[];
  readonly interrupts: readonly Interrupt[];
  /** Channels whose values could not be stored: the run continued with them, the next one has none. */
  readonly unstored?: readonly string[];
  /** As those of a `GraphCheckpoint`. */
  readonly files?: readonly EmbeddedFile[];
}

export interface GraphRunResult {
  /** Ends when the upstream does; never throws: a failure is in `final`. Read once; leaving it early stops the run. */
  readonly stream: AsyncIterable<UpstreamChunk>;
  /** Resolves once `stream` was read to its end or left; never rejects. */
  readonly final: Promise<GraphFinal>;
}

/** UNIFIED_EXECUTION_PORT (docs/requirements.md#server-2): every graph, wherever it runs, is run through this. */
export interface GraphExecutorPort {
  readonly executorType: ExecutorType;
  runGraph(request: GraphRunRequest): GraphRunResult;
}
/**
 * One item of a LangGraph stream, untranslated: namespace path, stream mode and the graph's data. `data` has no known type;
 * only the stream adapter reads it.
 */
export interface UpstreamChunk {
  readonly ns: readonly string[];
  readonly mode: string;
  readonly data: unknown;
  /** `replay` for an item that an upstream repeats to a reader that joins late. Default `live`. */
  readonly origin?: "live" | "replay";
}

/**
 * R29: a request that is not state. A graph finds it as `config.configurable.command`, until the run ends and also when the
 * run is recovered after a crash; it is written nowhere that is shown.
 */
export const agentCommandSchema = z.object({
  name: z.string().min(1).max(128),
  /** Returned as the state's `lastAppliedClientMutationId` once the graph has applied the command. */
  clientMutationId: z.string().min(1).max(256).optional(),
  args: jsonObjectSchema.optional(),
});
export type AgentCommand = z.infer<typeof agentCommandSchema>;

/** The highest `recursion_limit` that a run or a langgraph.json may set. */
export const MAX_RECURSION_LIMIT = 10_000;

/**
 * Configuration of a run, in the names of LangGraph's own API. Keys of `configurable` must be declared by the graph's context
 * schema; the graph finds them in `config.configurable` and in `runtime.context`.
 */
export const runConfigSchema = z.strictObject({
  recursion_limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_RECURSION_LIMIT)
    .optional()
    .describe("The most supersteps of the run. Default: the graph's own, else LangGraph's 25."),
  tags: z.array(z.string().min(1).max(256)).max(50).optional().describe("Tags of its traces."),
  metadata: jsonObjectSchema.optional().describe("Metadata of its traces and checkpoints."),
  configurable: jsonObjectSchema
    .optional()
    .describe("Keys that the graph's context schema declares. Given as `configurable` and as `context`."),
});
export type RunConfig = z.infer<typeof runConfigSchema>;

/** Keys of `configurable` that the service or LangGraph itself writes: no run, and no langgraph.json, may set them. */
export const RESERVED_CONFIG_KEYS: ReadonlySet<string> = new Set([
  "thread_id",
  "run_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "assistant_id",
  "graph_id",
  "langgraph_auth_user",
  "langgraph_auth_user_id",
  "langgraph_auth_permissions",
  "langgraph_request_id",
  "virtualKeyId",
  "billingAccountId",
  "runId",
  "attempt",
  "ingressRequestId",
  "traceId",
  "executorType",
  "ag-ui",
  "command",
]);

/** Whether a key of `configurable` is reserved. LangGraph's internal keys begin with two underscores. */
export function isReservedConfigKey(key: string): boolean {
  return RESERVED_CONFIG_KEYS.has(key) || key.startsWith("__");
}

/** The keys that a graph's context schema declares; `undefined` where its schema is not known. */
export function contextKeysOf(agent: Pick<GraphDescriptor, "contextSchema">): readonly string[] | undefined {
  return agent.contextSchema && Object.keys(contextPropertiesOf(agent.contextSchema));
}

/** The JSON Schema of each key of a context schema. */
export function contextPropertiesOf(contextSchema: JsonObject): JsonObject {
  const { properties } = contextSchema;
  return typeof properties === "object" && properties !== null && !Array.isArray(properties)
    ? properties
    : {};
}

/** Whether a graph's context schema declares `model`; `undefined` where its schema is not known. */
export function acceptsModel(agent: Pick<GraphDescriptor, "contextSchema">): boolean | undefined {
  return contextKeysOf(agent)?.includes("model");
}
