import type { Json, JsonObject } from "@throughline/ai-core";
import { answerAction, answerForm, dismissAnswer, type Question } from "@throughline/questions";
import { isJsonObject } from "../design/is-json-object";
import { schemaOfValues } from "./schema-of-values";
import { changedValues } from "./value-edits";

/** A form to answer a question with: what to fill in, and the answer it makes. */
export interface AnswerFields {
  /** `undefined`: any text. */
  readonly schema: JsonObject | undefined;
  readonly preset: Json | undefined;
  /** What the buttons say: to send what was filled in, and to decline. */
  readonly submit: string;
  readonly decline: string;
  /** The answer that declines, where the question has one. */
  readonly declined: Json | undefined;
  /** How the graph wants to be answered is a guess: the answer is shown before it goes. */
  readonly isGuess: boolean;
  toAnswer(values: Json): Json;
}

const APPROVING = { submit: "Approve", decline: "Reject" };

export const ANSWER_AS_IS: AnswerFields = {
  schema: undefined,
  preset: undefined,
  submit: "Answer",
  decline: "Decline",
  declined: undefined,
  isGuess: false,
  toAnswer: (values) => values,
};

/** The form of a question. For kinds with buttons of their own: the form for every other answer. */
export function answerFields(question: Question): AnswerFields {
  const plain: AnswerFields = {
    ...ANSWER_AS_IS,
    schema: question.schema,
    declined: dismissAnswer(question),
  };
  switch (question.kind) {
    case "form":
      return {
        ...plain,
        ...(question.form === "fields" && APPROVING),
        schema: question.fields,
        toAnswer: (values) => answerForm(question, values),
      };
    case "draft":
      return { ...plain, schema: undefined, preset: question.draft };
    case "action":
      return {
        ...plain,
        ...APPROVING,
        schema: schemaOfValues(question.fields),
        preset: question.fields,
        declined: answerAction(question, "reject"),
        isGuess: true,
        toAnswer: (values) => answerAction(question, "approve", changedOf(question.fields, values)),
      };
    default:
      return plain;
  }
}

/** What a person changed goes along, and nothing that the graph said itself. */
function changedOf(before: JsonObject, values: Json): JsonObject {
  return Object.fromEntries(
    changedValues(before, isJsonObject(values) ? values : {}).flatMap(({ name, after }) => {
      // A field that was emptied is an empty text, and not what the graph said.
      const value = after ?? (typeof before[name] === "string" ? "" : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
