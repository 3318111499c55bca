import type { Caller, Dialect, Profile } from "../context/run-context.js";
import type { Interrupt, RunStatus } from "../envelope/payloads.js";
import type { ThroughlineError } from "../errors/throughline-error.js";
import type { Json, JsonObject } from "../json/json.js";
import type { ContextItem, FrontendTool, Message } from "../messages/message.js";
import type { FoundFile } from "../ports/attachments.js";
import type { Fence } from "../ports/lease.js";
import type { ExecutorType } from "../usage/usage.js";
import type { AgentCommand } from "./agent-command.js";
import type { RunConfig } from "./run-config.js";
import type { UpstreamChunk } from "./upstream-chunk.js";

/** What the first attempt of a run begins from. */
export type FreshRunStart =
  /** New input. Only messages the thread does not hold yet are sent (R26). */
  | { readonly kind: "input"; readonly messages: readonly Message[]; readonly state?: JsonObject }
  /**
   * Answers by interrupt id, one or several at once. None at all goes on from a breakpoint the graph was compiled with, or
   * asks again what was answered in a way that made its node fail. Where
   * the graph lost the node that asks, an answer ends as `graph_changed`, and `{ "__agui_cancelled__": true }` sets aside
   * what was to run, so that the thread is idle.
   */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** Time travel: run again from a checkpoint of the past, with these messages added to it. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };

export type GraphRunStart =
  | FreshRunStart
  /** R27: take up a crashed run. What it began from is needed where nothing of it was stored. */
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
  /** Where absent the graph's own model answers: `configurable` then has no key `model`. */
  readonly model?: string | undefined;
  /** Checked against the graph's context schema by the caller. */
  readonly config?: RunConfig | undefined;
  readonly start: GraphRunStart;
  readonly tools: readonly FrontendTool[];
  readonly context: readonly ContextItem[];
  readonly command?: AgentCommand | undefined;
  readonly profile: Profile;
  /** What the graph is asked to stream. Default `modes`. */
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
 * How a run ended, decided by the checkpoint and not by what the stream looked like. An `error` that is a `StoreOutage` says
 * that the graph came to its end and its checkpoint can't be read right now: how the run ended is still to be found out.
 */
export interface GraphFinal {
  readonly ok: boolean;
  readonly status: RunStatus;
  readonly error?: ThroughlineError;
  /** DUAL_RUN_IDS (docs/requirements.md#dev-6): the upstream's own id of the run, where there is one. */
  readonly upstreamRunId?: string;
  readonly checkpointId?: string;
  /** The checkpoint's, and what the run gave in channels that no checkpoint holds. */
  readonly state?: JsonObject;
  /** Absent where the graph has no `messages`, or no checkpoint could be read. */
  readonly messages?: readonly Message[];
  readonly interrupts: readonly Interrupt[];
  /** Channels whose values could not be stored: the run went on with them, the next one finds none. */
  readonly unstored?: readonly string[];
  /** As those of a `GraphCheckpoint`. */
  readonly files?: readonly FoundFile[];
}

export interface GraphRunResult {
  /** Ends when the upstream does; never throws: a failure is in `final`. Read once; leaving it early stops the run. */
  readonly stream: AsyncIterable<UpstreamChunk>;
  /** Settles once `stream` was read to its end or left; never rejects. */
  readonly final: Promise<GraphFinal>;
}

/** UNIFIED_EXECUTION_PORT (docs/requirements.md#server-2): every graph, wherever it runs, is run through this. */
export interface GraphExecutorPort {
  readonly executorType: ExecutorType;
  runGraph(request: GraphRunRequest): GraphRunResult;
}
