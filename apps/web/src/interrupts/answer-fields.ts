import type { Json, JsonObject } from "@throughline/ai-core";
import {
  answerAction,
  answerAskUser,
  answerElicitation,
  answerForm,
  type Question,
} from "@throughline/questions";
import { isJsonObject } from "../design/is-json-object";

/** A form to answer a question with: what to fill in, and the answer it makes. */
export interface AnswerFields {
  /** `undefined`: any text. */
  readonly schema: JsonObject | undefined;
  readonly preset: Json | undefined;
  toAnswer(values: Json): Json;
}

const DONE: JsonObject = { type: "boolean" };
const same = (values: Json) => values;

/** Kinds that have buttons of their own come here for the answers that no button gives. */
export function answerFields(question: Question): AnswerFields {
  switch (question.kind) {
    case "form":
      return {
        schema: question.fields,
        preset: undefined,
        toAnswer: (values) => answerForm(question, values),
      };
    case "elicitation": {
      const { requests } = question;
      return {
        schema: objectOf(
          requests.map(({ message, mode, schema, url }, index) => [
            String(index),
            mode === "url"
              ? {
                  ...DONE,
                  title: message,
                  description: `Open ${url ?? "the address"} yourself, then say so here.`,
                }
              : { title: message, ...(schema ?? { type: "object" }) },
          ]),
        ),
        preset: undefined,
        toAnswer: (values) =>
          answerElicitation(
            question,
            requests.map(({ mode }, index) => {
              const value = isJsonObject(values) ? values[String(index)] : undefined;
              if (mode === "url") return { action: value === true ? "accept" : "decline" };
              return { action: "accept", content: value ?? {} };
            }),
          ),
      };
    }
    case "ask_user": {
      const { prompts } = question;
      return {
        schema: objectOf(
          prompts.map(({ prompt, type, choices }, index) => {
            const hint = choices.map(({ value }) => value).join(", ");
            const about = { title: prompt, ...(hint !== "" && { description: `For example: ${hint}.` }) };
            return [
              String(index),
              type === "choices"
                ? { ...about, type: "array", items: { type: "string" } }
                : { ...about, type: "string" },
            ];
          }),
          prompts.flatMap(({ isRequired }, index) => (isRequired ? [String(index)] : [])),
        ),
        preset: undefined,
        toAnswer: (values) =>
          answerAskUser(
            question,
            prompts.map((_, index) => {
              const value = isJsonObject(values) ? values[String(index)] : undefined;
              return Array.isArray(value) ? value.map(String) : typeof value === "string" ? value : "";
            }),
          ),
      };
    }
    case "draft":
      return { schema: undefined, preset: question.draft, toAnswer: same };
    case "action":
      return {
        schema: objectOf(
          Object.entries(question.fields).flatMap(([name, value]): [string, JsonObject][] =>
            typeof value === "string" || typeof value === "number" || typeof value === "boolean"
              ? [[name, { type: typeof value }]]
              : [],
          ),
          [],
        ),
        preset: question.fields,
        toAnswer: (values) => answerAction(question, "approve", isJsonObject(values) ? values : {}),
      };
    default:
      return { schema: question.schema, preset: undefined, toAnswer: same };
  }
}

function objectOf(
  properties: readonly (readonly [string, JsonObject])[],
  required?: readonly string[],
): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: [...(required ?? properties.map(([name]) => name))],
  };
}
