import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, listAt, objectAt, textAt } from "../plain.js";
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

export const ACTIONS: readonly string[] = ["accept", "decline", "cancel"];

export function readElicitation({ value, schema }: QuestionSource): ElicitationQuestion | undefined {
  if (!isObject(value)) return undefined;
  const isMcp = value.type === "mcp_elicitation";
  const listed = isMcp ? listAt(value, "requests") : undefined;
  if (!listed && !isMcp && !isConvention(value)) return undefined;
  const requests = (listed ?? [value]).map((request, index) =>
    toRequest(request, listed ? String(index) : ""),
  );
  const asker = textAt(value, "tool_name", "toolName", "server");
  return {
    kind: "elicitation",
    message: textAt(value, "message") ?? messageOf(asker, requests),
    value,
    schema: isMcp ? undefined : schema,
    form: listed ? "requests" : "single",
    asker,
    requests,
  };
}

function messageOf(asker: string | undefined, requests: readonly ElicitationRequest[]): string {
  const [only, ...more] = requests;
  if (!only) return NO_WORDS;
  return more.length === 0 ? only.message : `${asker ?? "The agent"} asks for ${requests.length} things.`;
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
