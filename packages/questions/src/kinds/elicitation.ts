import type { Json, JsonObject } from "@throughline/ai-core";
import { checkSchema } from "../check-schema.js";
import { type Mismatch, mismatch } from "../mismatch.js";
import { isObject, listAt, nameOf, objectAt, textAt } from "../plain.js";
import { NO_WORDS, type QuestionBase, type QuestionSource } from "../question-source.js";

export interface ElicitationRequest {
  /** Names the answer; empty where the form of the question knows one request only. */
  readonly key: string;
  readonly message: string;
  readonly mode: "form" | "url";
  readonly schema: JsonObject | undefined;
  /** Never to be embedded; to accept means "I have done it". */
  readonly url: string | undefined;
}

/** A question of an MCP server: several requests by key, or a single one in either of two spellings. */
export interface ElicitationQuestion extends QuestionBase {
  readonly kind: "elicitation";
  readonly form: "requests" | "single";
  /** The tool or the server that asks. */
  readonly asker: string | undefined;
  readonly requests: readonly ElicitationRequest[];
}

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Json }
  | { readonly action: "decline" | "cancel" };

const ACTIONS: readonly string[] = ["accept", "decline", "cancel"];

export function readElicitation({ value, schema }: QuestionSource): ElicitationQuestion | undefined {
  if (!isObject(value)) return undefined;
  const isMcp = value.type === "mcp_elicitation";
  const listed = isMcp ? listAt(value, "requests") : undefined;
  if (!listed && !isMcp && !isConvention(value)) return undefined;
  const requests = (listed ?? [value]).map((request, index) =>
    toRequest(request, listed ? String(index) : ""),
  );
  return {
    kind: "elicitation",
    message: textAt(value, "message") ?? requests[0]?.message ?? NO_WORDS,
    value,
    schema: isMcp ? undefined : schema,
    form: listed ? "requests" : "single",
    asker: textAt(value, "tool_name", "toolName", "server"),
    requests,
  };
}

/** The Agent Server's own convention has no type: the mode and what belongs to it tell. */
function isConvention(value: JsonObject): boolean {
  if (value.mode === "url") return typeof value.url === "string";
  return value.mode === "form" && objectAt(value, "requestedSchema", "requested_schema") !== undefined;
}

function toRequest(request: Json, fallbackKey: string): ElicitationRequest {
  return {
    key: textAt(request, "key") ?? fallbackKey,
    message: textAt(request, "message") ?? NO_WORDS,
    mode: textAt(request, "mode") === "url" ? "url" : "form",
    schema: objectAt(request, "requested_schema", "requestedSchema", "response_schema", "responseSchema"),
    url: textAt(request, "url"),
  };
}

/** One answer for each request, in their order. */
export function answerElicitation(
  { form, requests }: ElicitationQuestion,
  answers: readonly ElicitationAnswer[],
): JsonObject {
  const spelt = requests.map((_, index) => spell(answers[index] ?? { action: "cancel" }));
  if (form === "single") return spelt[0] ?? spell({ action: "cancel" });
  return {
    responses: Object.fromEntries(
      requests.map(({ key }, index) => [key, spelt[index] ?? { action: "cancel" }]),
    ),
  };
}

function spell(answer: ElicitationAnswer): JsonObject {
  if (answer.action !== "accept" || answer.content === undefined) return { action: answer.action };
  return { action: "accept", content: answer.content };
}

/** A form's content alone counts as accepting it. */
export function adaptElicitation(question: ElicitationQuestion, answer: Json): Json {
  const { form, requests } = question;
  const [only] = requests;
  if (!only || requests.length !== 1 || !isObject(answer)) return answer;
  if (form === "requests" && !isObject(answer.responses) && typeof answer.action === "string") {
    return { responses: { [only.key]: answer } };
  }
  const isContent = answer.action === undefined && answer.responses === undefined && only.mode === "form";
  return isContent ? answerElicitation(question, [{ action: "accept", content: answer }]) : answer;
}

export function checkElicitation({ form, requests }: ElicitationQuestion, answer: Json): Mismatch | null {
  if (!isObject(answer)) return mismatch(`Expected an object with an action, got ${nameOf(answer)}.`);
  if (form === "single") return requests[0] ? checkOne(requests[0], answer, []) : null;
  const { responses } = answer;
  if (!isObject(responses)) return mismatch("The responses are missing.", "responses");
  for (const request of requests) {
    const problem = checkOne(request, responses[request.key], ["responses", request.key]);
    if (problem) return problem;
  }
  const unknown = Object.keys(responses).find((key) => !requests.some((request) => request.key === key));
  return unknown === undefined ? null : mismatch("No such request was made.", "responses", unknown);
}

function checkOne(
  { mode, schema }: ElicitationRequest,
  answer: Json | undefined,
  at: readonly string[],
): Mismatch | null {
  const action = isObject(answer) ? answer.action : undefined;
  if (!isObject(answer) || typeof action !== "string" || !ACTIONS.includes(action)) {
    return mismatch(`The action must be one of: ${ACTIONS.join(", ")}.`, ...at, "action");
  }
  if (action !== "accept" || mode === "url" || !schema) return null;
  const problem = checkSchema(schema, answer.content ?? null);
  return problem && mismatch(problem.problem, ...at, "content", ...(problem.path ? [problem.path] : []));
}

export function dismissElicitation(question: ElicitationQuestion): JsonObject {
  return answerElicitation(question, []);
}

export function elicitationSchema({ form, requests }: ElicitationQuestion): JsonObject {
  const of = ({ mode, schema }: ElicitationRequest): JsonObject => ({
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      ...(mode === "form" && { content: schema ?? { type: "object" } }),
    },
    required: ["action"],
  });
  const [only] = requests;
  if (form === "single") return only ? of(only) : { type: "object" };
  const responses: JsonObject = {
    type: "object",
    properties: Object.fromEntries(requests.map((request) => [request.key, of(request)])),
    required: requests.map(({ key }) => key),
  };
  return { type: "object", properties: { responses }, required: ["responses"] };
}
