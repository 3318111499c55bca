import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, listAt, nameOf, textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

export interface UserChoice {
  readonly value: string;
  readonly label: string;
  /** The choice only opens a text field, whose text is the response. */
  readonly isWritten: boolean;
}

export interface UserPrompt {
  readonly id: string;
  readonly prompt: string;
  readonly type: "text" | "choice" | "choices";
  readonly choices: readonly UserChoice[];
  readonly isRequired: boolean;
}

/** Several questions of a tool that asks the user. `by_position`: `type: "ask_user"`; `by_id`: `schema_version`. */
export interface AskUserRequest extends InterruptRequestBase {
  readonly kind: "ask_user";
  readonly form: "by_position" | "by_id";
  readonly prompts: readonly UserPrompt[];
  readonly toolCallId: string | undefined;
}

export function readAskUser({ value, schema }: InterruptSource): AskUserRequest | undefined {
  const questions = listAt(value, "questions");
  if (!isObject(value) || !questions || questions.length === 0 || !questions.every(isObject))
    return undefined;
  const isByPosition = value.type === "ask_user";
  const isById = questions.every(
    (one) => textAt(one, "id") !== undefined && textAt(one, "prompt") !== undefined,
  );
  if (!isByPosition && !isById) return undefined;
  const prompts = questions.map((one, index) => (isByPosition ? byPosition(one, index) : byId(one)));
  return {
    kind: "ask_user",
    message: textAt(value, "message", "title", "context_note") ?? messageOf(prompts),
    value,
    schema,
    form: isByPosition ? "by_position" : "by_id",
    prompts,
    toolCallId: textAt(value, "tool_call_id", "toolCallId"),
  };
}

function messageOf(prompts: readonly UserPrompt[]): string {
  const [only, ...more] = prompts;
  if (!only) return DEFAULT_MESSAGE;
  return more.length === 0 ? only.prompt : `The agent has ${prompts.length} questions.`;
}

function byPosition(question: JsonObject, index: number): UserPrompt {
  const type = textAt(question, "type");
  return {
    id: String(index),
    prompt: textAt(question, "question", "prompt") ?? DEFAULT_MESSAGE,
    type: type === "multi_select" ? "choices" : type === "multiple_choice" ? "choice" : "text",
    choices: (listAt(question, "choices", "options") ?? []).flatMap((choice) => {
      const value = typeof choice === "string" ? choice : textAt(choice, "value", "label");
      return value === undefined
        ? []
        : [{ value, label: textAt(choice, "label") ?? value, isWritten: false }];
    }),
    isRequired: question.required !== false,
  };
}

function byId(question: JsonObject): UserPrompt {
  const options = listAt(question, "options") ?? [];
  return {
    id: textAt(question, "id") ?? "",
    prompt: textAt(question, "prompt") ?? DEFAULT_MESSAGE,
    type: options.length === 0 ? "text" : question.allow_multiple === true ? "choices" : "choice",
    choices: options.flatMap((option) => {
      const id = textAt(option, "id");
      if (id === undefined || !isObject(option)) return [];
      const isWritten = option.requires_free_text === true;
      return [{ value: id, label: textAt(option, "label") ?? id, isWritten }];
    }),
    isRequired: question.required !== false,
  };
}

/** One answer for each prompt, in their order: a text, or several of a choice. */
export function respondToAskUser(
  { form, prompts }: AskUserRequest,
  answers: readonly (string | readonly string[])[],
): JsonObject {
  if (form === "by_id") {
    const entries = prompts.map(({ id }, index): [string, Json] => {
      const response = answers[index] ?? "";
      return [id, typeof response === "string" ? response : [...response]];
    });
    return { answers: Object.fromEntries(entries) };
  }
  const texts = prompts.map((_, index) => {
    const response = answers[index] ?? "";
    return typeof response === "string" ? response : JSON.stringify(response);
  });
  return { status: "answered", answers: texts };
}

/** Accepts the complete form, the list of answers alone, a text for a single question, and lists that are not text yet. */
export function adaptAskUser(question: AskUserRequest, response: Json): Json {
  const { form, prompts } = question;
  if (form === "by_id") return response;
  if (typeof response === "string" && prompts.length === 1) return respondToAskUser(question, [response]);
  const list = Array.isArray(response) ? response : listAt(response, "answers");
  if (!list) return response;
  const answers = list.map((one) => (Array.isArray(one) ? JSON.stringify(one) : one));
  return isObject(response) ? { status: "answered", ...response, answers } : { status: "answered", answers };
}

export function checkAskUser({ form, prompts }: AskUserRequest, response: Json): ResponseProblem | null {
  if (!isObject(response)) return mismatch(`Expected an object with answers, got ${nameOf(response)}.`);
  // The proposal does not define the form of the response yet, only that it is by id.
  if (form === "by_id") return null;
  const { status, answers } = response;
  if (status === "cancelled") return null;
  if (status !== "answered") return mismatch("The status must be answered or cancelled.", "status");
  if (!Array.isArray(answers)) return mismatch("The list of answers is missing.", "answers");
  if (answers.length !== prompts.length) {
    return mismatch(`Expected ${prompts.length} answers, got ${answers.length}.`, "answers");
  }
  const wrong = answers.findIndex((one) => typeof one !== "string");
  if (wrong >= 0) return mismatch("Each answer is a text.", "answers", wrong);
  const empty = prompts.findIndex(({ isRequired }, index) => isRequired && answers[index] === "");
  return empty < 0 ? null : mismatch("This question needs an answer.", "answers", empty);
}

export function dismissAskUser({ form }: AskUserRequest): JsonObject | undefined {
  return form === "by_position" ? { status: "cancelled", answers: [] } : undefined;
}

export function askUserSchema({ form, prompts }: AskUserRequest): JsonObject {
  const of = ({ prompt, type, choices }: UserPrompt): JsonObject => {
    const examples = choices.map(({ value }) => value);
    // Other texts than the choices are always accepted.
    const text: JsonObject = { type: "string", title: prompt, ...(examples.length > 0 && { examples }) };
    return type === "choices" && form === "by_id" ? { type: "array", title: prompt, items: text } : text;
  };
  if (form === "by_id") {
    const answers: JsonObject = {
      type: "object",
      properties: Object.fromEntries(prompts.map((prompt) => [prompt.id, of(prompt)])),
    };
    return { type: "object", properties: { answers }, required: ["answers"] };
  }
  const count = prompts.length;
  return {
    type: "object",
    properties: {
      status: { type: "string", enum: ["answered", "cancelled"] },
      answers: { type: "array", prefixItems: prompts.map(of), minItems: count, maxItems: count },
    },
    required: ["answers"],
  };
}
