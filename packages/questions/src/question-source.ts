import type { Json, JsonObject } from "@throughline/ai-core";

/** What is known of a question before it is read. */
export interface QuestionSource {
  /** What the graph passed to `interrupt()`. */
  readonly value: Json;
  /** JSON Schema of the answer, as LangGraph tells it beside the value. */
  readonly schema: JsonObject | undefined;
  /** AG-UI's reason, where the question came with one. */
  readonly reason: string | undefined;
  /** The call that the question is about, where that came beside the value. */
  readonly toolCallId: string | undefined;
}

/** What every kind of question has. */
export interface QuestionBase {
  /** Words to show above whatever else the question holds. */
  readonly message: string;
  /** What the graph passed to `interrupt()`, unread. */
  readonly value: Json;
  /** JSON Schema of the answer, where the graph gave one: beside the value, or inside it. */
  readonly schema: JsonObject | undefined;
}

export const NO_WORDS = "The agent needs an answer to go on.";
