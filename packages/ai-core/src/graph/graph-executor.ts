import type { Caller, Profile } from "../context/run-context.js";
import type { Interrupt, RunStatus } from "../envelope/payloads.js";
import type { ThroughlineError } from "../errors/throughline-error.js";
import type { Json, JsonObject } from "../json/json.js";
import type { ContextItem, FrontendTool, Message } from "../messages/message.js";
import type { ExecutorType } from "../usage/usage.js";
import type { UpstreamChunk } from "./upstream-chunk.js";

/** What a run begins from. */
export type GraphRunStart =
  /** New input. Only messages the thread does not hold yet are sent (R26). */
  | { readonly kind: "input"; readonly messages: readonly Message[]; readonly state?: JsonObject }
  /** Answers by interrupt id, all of the open ones at once. */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** Take up a crashed run from its last checkpoint (R27). */
  | { readonly kind: "continue" }
  /** Time travel: run again from a checkpoint of the past. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };

export interface GraphRunRequest {
  readonly runId: string;
  readonly attempt: number;
  readonly ingressRequestId: string;
  readonly caller: Caller;
  readonly graphId: string;
  /** THREAD_KEY_REQUIRED: derived on the server from account and state key. */
  readonly threadId: string;
  readonly stateKey: string;
  readonly model: string;
  readonly start: GraphRunStart;
  readonly tools: readonly FrontendTool[];
  readonly context: readonly ContextItem[];
  readonly profile: Profile;
  /** Aborted on stop, and when the run's lease is lost. */
  readonly signal: AbortSignal;
}

/** How a run ended, decided by the checkpoint and not by what the stream looked like. */
export interface GraphFinal {
  readonly ok: boolean;
  readonly status: RunStatus;
  readonly error?: ThroughlineError;
  /** DUAL_RUN_IDS: the upstream's own id of the run, where there is one. */
  readonly upstreamRunId?: string;
  readonly checkpointId?: string;
  readonly state?: JsonObject;
  readonly messages?: readonly Message[];
  readonly interrupts: readonly Interrupt[];
}

export interface GraphRunResult {
  /** Ends when the upstream does; never throws: a failure is in `final`. */
  readonly stream: AsyncIterable<UpstreamChunk>;
  readonly final: Promise<GraphFinal>;
}

/** UNIFIED_EXECUTION_PORT: every graph, wherever it runs, is run through this. */
export interface GraphExecutorPort {
  readonly executorType: ExecutorType;
  runGraph(request: GraphRunRequest): GraphRunResult;
}
