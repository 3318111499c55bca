import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/** The two protocol versions in use: 0.0.59, which CopilotKit pins, and 1.0. */
export type AgUiVersion = "0.0" | "1.0";
/** R15: the form in which a request wants interrupts. */
export type InterruptForm = "legacy" | "standard" | "both";

interface Common {
  readonly metadata?: JsonObject;
  readonly subagentRunId?: string;
}

export interface AgUiInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: JsonObject;
  readonly expiresAt?: string;
  readonly metadata: JsonObject;
}

export type AgUiOutcome =
  | { readonly type: "success" }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

export interface AgUiUsage {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** The events of AG-UI that the encoder writes, and no others. */
export type AgUiEvent = Common &
  (
    | {
        readonly type: "RUN_STARTED";
        readonly threadId: string;
        readonly runId: string;
        readonly input?: JsonObject;
      }
    | {
        readonly type: "RUN_FINISHED";
        readonly threadId: string;
        readonly runId: string;
        readonly outcome?: AgUiOutcome;
        readonly usage?: readonly AgUiUsage[];
      }
    | { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string }
    | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
    | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
    | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
    | { readonly type: "REASONING_START" | "REASONING_END"; readonly messageId: string }
    | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
    | { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "REASONING_MESSAGE_END"; readonly messageId: string }
    | {
        readonly type: "TOOL_CALL_START";
        readonly toolCallId: string;
        readonly toolCallName: string;
        readonly parentMessageId: string;
      }
    | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
    | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
    | {
        readonly type: "TOOL_CALL_RESULT";
        readonly messageId: string;
        readonly toolCallId: string;
        readonly content: string;
        readonly role: "tool";
      }
    | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: JsonObject }
    | { readonly type: "STATE_DELTA"; readonly delta: readonly PatchOperation[] }
    | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly JsonObject[] }
    | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json }
    | {
        readonly type: "SUBAGENT_STARTED";
        readonly subagentRunId: string;
        readonly name: string;
        readonly parentSubagentRunId?: string;
        readonly parentToolCallId?: string;
      }
    | {
        readonly type: "SUBAGENT_FINISHED";
        readonly subagentRunId: string;
        readonly outcome?: { readonly type: "success" | "suspended" };
      }
    | { readonly type: "SUBAGENT_ERROR"; readonly subagentRunId: string; readonly message: string }
  );

/** An event and, where a client may reconnect from it, its cursor. */
export interface AgUiFrame {
  readonly id?: string;
  readonly event: AgUiEvent;
}
