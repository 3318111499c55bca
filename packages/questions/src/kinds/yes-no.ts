import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, objectAt, textAt } from "../plain.js";
import type { QuestionBase, QuestionSource } from "../question-source.js";

/** A question to be answered with yes or no; where the graph gave no schema, words may do as well. */
export interface YesNoQuestion extends QuestionBase {
  readonly kind: "yes_no";
  readonly details: Json | undefined;
  /** What to answer with: true and false, or the object that the schema wants around them. */
  readonly yes: Json;
  readonly no: Json;
}

const ASKS = /\?\s*$/;
/** The first word of English questions that want no more than yes or no. */
const OPENS =
  /^(is|are|was|were|do|does|did|can|could|shall|should|will|would|may|have|has|am|approve|confirm|continue|proceed|go on|ok|okay|really|sure)\b/i;

export function readYesNo({ value, schema, reason }: QuestionSource): YesNoQuestion | undefined {
  const isBoolean = schema?.type === "boolean";
  const isConfirmation = reason === "confirmation";
  const around = schema && !isBoolean ? onlyBoolean(schema) : undefined;
  if (schema && !isBoolean && !(isConfirmation && around !== undefined)) return undefined;
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
    yes: around === undefined ? true : { [around]: true },
    no: around === undefined ? false : { [around]: false },
  };
}

/** The property that is the whole answer, as AG-UI's `{ approved }`; `undefined` where there is more to fill in. */
function onlyBoolean(schema: JsonObject): string | undefined {
  const properties = Object.entries(objectAt(schema, "properties") ?? {});
  const [only] = properties;
  return properties.length === 1 && only && isObject(only[1]) && only[1].type === "boolean"
    ? only[0]
    : undefined;
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
