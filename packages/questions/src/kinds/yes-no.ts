import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, objectAt, textAt } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";

/** A question with yes or no as response; where the graph gave no schema, it may also accept other texts. */
export interface YesNoRequest extends InterruptRequestBase {
  readonly kind: "yes_no";
  readonly details: Json | undefined;
  /** The responses: true and false, or the object that the schema requires around them. */
  readonly yes: Json;
  readonly no: Json;
}

const ENDS_WITH_QUESTION = /\?\s*$/;
/** The first word of English yes-or-no questions. */
const YES_NO_OPENING =
  /^(is|are|was|were|do|does|did|can|could|shall|should|will|would|may|have|has|am|approve|confirm|continue|proceed|go on|ok|okay|really|sure)\b/i;

export function readYesNo({ value, schema, reason }: InterruptSource): YesNoRequest | undefined {
  const isBoolean = schema?.type === "boolean";
  const isConfirmation = reason === "confirmation";
  const around = schema && !isBoolean ? onlyBoolean(schema) : undefined;
  if (schema && !isBoolean && !(isConfirmation && around !== undefined)) return undefined;
  const text = typeof value === "string" ? value : textAt(value, "question", "message");
  const isDetailed = isObject(value) && typeof value.question === "string" && value.details !== undefined;
  const isAsked = typeof value === "string" && isYesNoQuestion(value);
  if (!isBoolean && !isConfirmation && !isDetailed && !isAsked) return undefined;
  return {
    kind: "yes_no",
    message: text ?? "Go on?",
    value,
    schema,
    details: isObject(value) ? value.details : undefined,
    yes: around === undefined ? true : { [around]: true },
    no: around === undefined ? false : { [around]: false },
  };
}

/** The only property of a response's schema, as in AG-UI's `{ approved }`; `undefined` where there is more to fill in. */
function onlyBoolean(schema: JsonObject): string | undefined {
  const properties = Object.entries(objectAt(schema, "properties") ?? {});
  const [only] = properties;
  return properties.length === 1 && only && isObject(only[1]) && only[1].type === "boolean"
    ? only[0]
    : undefined;
}

/** Whether a text ends with a yes-or-no question. Only the last sentence counts. */
function isYesNoQuestion(text: string): boolean {
  const last =
    text
      .trim()
      .split(/(?<=[.!?:])\s+|\n+/)
      .at(-1) ?? "";
  return ENDS_WITH_QUESTION.test(last) && YES_NO_OPENING.test(last);
}

export function yesNoSchema({ schema }: YesNoRequest): JsonObject {
  return schema ?? { type: "boolean" };
}
