import type { ErrorClass, Json, JsonObject, OwnError, PatchOperation } from "@throughline/ai-core";

/** The origin of a failure, as far as the service knows and shows it. */
interface ErrorOrigin {
  readonly class?: ErrorClass | undefined;
  /** The node that threw. */
  readonly node?: string | null | undefined;
  /** The task path of that node. */
  readonly ns?: readonly string[] | undefined;
  /** The graph's own error, where the service shows those. */
  readonly own?: OwnError | undefined;
}

export interface RunErrorView extends ErrorOrigin {
  readonly code: string;
  /** The service's message, or the graph's own where the service shows those. */
  readonly message: string;
}

/** The service's additions to AG-UI events, under `metadata.throughline`; the origin is that of a run that failed. */
export interface EventFacts extends ErrorOrigin {
  /** The service's own id of the run. */
  readonly runId?: string;
  readonly attempt?: number;
  readonly status?: string;
  readonly usage?: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly model_calls: number;
    readonly cost_usd: number | null;
    readonly complete?: boolean;
  };
  /** On a snapshot of an idle thread: how its last run ended, if not well. On a poll: which run was the last, and how it ended. */
  readonly lastRun?: {
    readonly status: "running" | "success" | "interrupted" | "error" | "cancelled";
    readonly runId?: string;
    readonly error?: RunErrorView;
  };
  /** On a run that failed: the interrupts that it did not resolve, which are still open. */
  readonly interrupts?: readonly WireInterrupt[];
  /** On a poll: the open run, if there is one. */
  readonly poll?: boolean;
  readonly activeRunId?: string | null;
  /** On a refusal: `busy` names the run in the way, and when to retry. */
  readonly details?: { readonly runId?: string; readonly retryAfterMs?: number };
}

interface Common {
  readonly metadata?: { readonly throughline?: EventFacts };
  readonly subagentRunId?: string;
}

export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string | readonly JsonObject[];
  readonly name?: string;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly subagentRunId?: string;
  readonly metadata?: JsonObject;
}

export interface WireInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: JsonObject;
  readonly expiresAt?: string;
  readonly metadata?: JsonObject;
}

/** The AG-UI 1.0 events that the service sends. Unknown events are ignored. */
export type AgentEvent = Common &
  (
    | {
        readonly type: "RUN_STARTED";
        readonly threadId: string;
        readonly runId: string;
        readonly input?: { readonly messages?: readonly AgUiMessage[] };
      }
    | {
        readonly type: "RUN_FINISHED";
        readonly threadId: string;
        readonly runId: string;
        readonly outcome?: {
          readonly type: "success" | "interrupt" | "cancelled";
          readonly interrupts?: readonly WireInterrupt[];
        };
      }
    | { readonly type: "RUN_ERROR"; readonly message: string; readonly code?: string }
    | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
    | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string }
    | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
    | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string }
    | { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "REASONING_MESSAGE_END"; readonly messageId: string }
    | {
        readonly type: "TOOL_CALL_START";
        readonly toolCallId: string;
        readonly toolCallName: string;
        readonly parentMessageId?: string;
      }
    | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
    | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
    | {
        readonly type: "TOOL_CALL_RESULT";
        readonly messageId: string;
        readonly toolCallId: string;
        readonly content: string;
        readonly metadata?: JsonObject;
      }
    | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: JsonObject }
    | { readonly type: "STATE_DELTA"; readonly delta: readonly PatchOperation[] }
    | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly AgUiMessage[] }
    | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json }
    | {
        readonly type: "SUBAGENT_STARTED";
        readonly subagentRunId: string;
        readonly name: string;
        readonly parentSubagentRunId?: string;
        readonly parentToolCallId?: string;
      }
    | { readonly type: "SUBAGENT_FINISHED" | "SUBAGENT_ERROR"; readonly subagentRunId: string }
  );

/** A received event, with its cursor where a client may reconnect from it. */
export interface AgUiFrame {
  readonly id?: string | undefined;
  readonly event: AgentEvent;
}

/** Returns the service's additions to an event or a message. The service alone writes under this name. */
export function factsOf({
  metadata,
}: {
  readonly metadata?: { readonly throughline?: EventFacts } | JsonObject;
}): EventFacts {
  return (metadata?.throughline ?? {}) as EventFacts;
}
