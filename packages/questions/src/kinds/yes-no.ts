import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, textAt } from "../plain.js";
import type { QuestionBase, QuestionSource } from "../question-source.js";

/** A question to be answered with yes or no; where the graph gave no schema, words may do as well. */
export interface YesNoQuestion extends QuestionBase {
  readonly kind: "yes_no";
  readonly details: Json | undefined;
}

const ASKS = /\?\s*$/;
/** The first word of English questions that want no more than yes or no. */
const OPENS =
  /^(is|are|was|were|do|does|did|can|could|shall|should|will|would|may|have|has|am|approve|confirm|continue|proceed|go on|ok|okay|really|sure)\b/i;

export function readYesNo({ value, schema, reason }: QuestionSource): YesNoQuestion | undefined {
  const isBoolean = schema?.type === "boolean";
  const isConfirmation = reason === "confirmation";
  if (schema && !isBoolean && !isConfirmation) return undefined;
  const words = typeof value === "string" ? value : textAt(value, "question", "message");
  const isDetailed = isObject(value) && typeof value.question === "string" && value.details !== undefined;
  const isAsked = typeof value === "string" && asksYesNo(value);
  if (!isBoolean && !isConfirmation && !isDetailed && !isAsked) return undefined;
  return {
    kind: "yes_no",
    message: words ?? "Go on?",
    value,
    schema,
    details: isObject(value) ? value.details : undefined,
  };
}

/** Only the last sentence counts: what stands before it is told, not asked. */
function asksYesNo(text: string): boolean {
  const last =
    text
      .trim()
      .split(/(?<=[.!?:])\s+|\n+/)
      .at(-1) ?? "";
  return ASKS.test(last) && OPENS.test(last);
}

export function yesNoSchema({ schema }: YesNoQuestion): JsonObject {
  return schema ?? { type: "boolean" };
}
