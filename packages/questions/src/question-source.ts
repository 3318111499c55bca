import type { Json, JsonObject } from "@throughline/ai-core";

/** An interrupt before it is parsed. */
export interface InterruptSource {
  /** The value that the graph passed to `interrupt()`. */
  readonly value: Json;
  /** JSON Schema of the response, as LangGraph sends it next to the value. */
  readonly schema: JsonObject | undefined;
  /** AG-UI's reason, where the interrupt has one. */
  readonly reason: string | undefined;
  /** The call that the interrupt is about, where that was sent next to the value. */
  readonly toolCallId: string | undefined;
}

/** The fields of every kind of interrupt request. */
export interface InterruptRequestBase {
  /** The text to show above the rest of the request. */
  readonly message: string;
  /** The value that the graph passed to `interrupt()`, unparsed. */
  readonly value: Json;
  /** JSON Schema of the response, where the graph gave one: next to the value, or inside it. */
  readonly schema: JsonObject | undefined;
}

export const DEFAULT_MESSAGE = "The agent needs an answer to go on.";
