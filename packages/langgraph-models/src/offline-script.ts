import type { BaseMessage } from "@langchain/core/messages";

/** One piece of an offline answer. A turn is a list of them, streamed in order. */
export type OfflinePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Several calls in a row stream as parallel calls of one message, each with its own index. */
  | { readonly kind: "toolCall"; readonly name: string; readonly args: Readonly<Record<string, unknown>> };

export interface OfflinePrompt {
  readonly messages: readonly BaseMessage[];
  /** Names of the tools bound to this call; empty when none are. */
  readonly tools: readonly string[];
  /** Text of the newest human message, or "". */
  readonly lastUserText: string;
}

/** What the offline model says to a prompt. Pure: the same prompt always gives the same turn. */
export type OfflineScript = (prompt: OfflinePrompt) => readonly OfflinePart[];
