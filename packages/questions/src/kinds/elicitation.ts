import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, listAt, objectAt, textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

export interface ElicitationItem {
  /** The key of the response; empty where the form of the interrupt has one request only. */
  readonly key: string;
  readonly message: string;
  readonly mode: "form" | "url";
  readonly schema: JsonObject | undefined;
  /** Never to be embedded; accepting means "I have done it". */
  readonly url: string | undefined;
}

/** An elicitation of an MCP server: several requests by key, or a single one in either of two forms. */
export interface ElicitationRequest extends InterruptRequestBase {
  readonly kind: "elicitation";
  readonly form: "requests" | "single";
  /** The tool or the server that asks. */
  readonly asker: string | undefined;
  readonly requests: readonly ElicitationItem[];
}

export type ElicitationResponse =
  | { readonly action: "accept"; readonly content?: Json }
  | { readonly action: "decline" | "cancel" };

export const ACTIONS: readonly string[] = ["accept", "decline", "cancel"];

export function readElicitation({ value, schema }: InterruptSource): ElicitationRequest | undefined {
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

function messageOf(asker: string | undefined, requests: readonly ElicitationItem[]): string {
  const [only, ...more] = requests;
  if (!only) return DEFAULT_MESSAGE;
  return more.length === 0 ? only.message : `${asker ?? "The agent"} asks for ${requests.length} things.`;
}

/** Recognizes the Agent Server's own convention, which has no type, by the mode and its fields. */
function isConvention(value: JsonObject): boolean {
  if (value.mode === "url") return typeof value.url === "string";
  return value.mode === "form" && objectAt(value, "requestedSchema", "requested_schema") !== undefined;
}

function toRequest(request: Json, fallbackKey: string): ElicitationItem {
  return {
    key: textAt(request, "key") ?? fallbackKey,
    message: textAt(request, "message") ?? DEFAULT_MESSAGE,
    mode: textAt(request, "mode") === "url" ? "url" : "form",
    schema: objectAt(request, "requested_schema", "requestedSchema", "response_schema", "responseSchema"),
    url: textAt(request, "url"),
  };
}

/** Encodes the responses, one for each request, in their order. */
export function respondToElicitation(
  { form, requests }: ElicitationRequest,
  answers: readonly ElicitationResponse[],
): JsonObject {
  const encoded = requests.map((_, index) => encodeAnswer(answers[index] ?? { action: "cancel" }));
  if (form === "single") return encoded[0] ?? encodeAnswer({ action: "cancel" });
  return {
    responses: Object.fromEntries(
      requests.map(({ key }, index) => [key, encoded[index] ?? { action: "cancel" }]),
    ),
  };
}

function encodeAnswer(response: ElicitationResponse): JsonObject {
  if (response.action !== "accept" || response.content === undefined) return { action: response.action };
  return { action: "accept", content: response.content };
}

/** Accepts also a form's content alone, which counts as accepting it. */
export function adaptElicitation(interrupt: ElicitationRequest, response: Json): Json {
  const { form, requests } = interrupt;
  const [only] = requests;
  if (!only || requests.length !== 1 || !isObject(response)) return response;
  if (form === "requests" && !isObject(response.responses) && typeof response.action === "string") {
    return { responses: { [only.key]: response } };
  }
  const isContent = response.action === undefined && response.responses === undefined && only.mode === "form";
  return isContent ? respondToElicitation(interrupt, [{ action: "accept", content: response }]) : response;
}

export function dismissElicitation(interrupt: ElicitationRequest): JsonObject {
  return respondToElicitation(interrupt, []);
}

export function elicitationSchema({ form, requests }: ElicitationRequest): JsonObject {
  const of = ({ mode, schema }: ElicitationItem): JsonObject => ({
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
