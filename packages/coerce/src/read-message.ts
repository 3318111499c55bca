import type { ContentPart, Json, JsonObject, Message, MessageRole, TokenUsage } from "@throughline/ai-core";
import { readMedia } from "./media.js";
import { MESSAGE_TYPES } from "./message-fields.js";
import {
  asRecord,
  asString,
  isJsonObject,
  read,
  readNumber,
  readString,
  type UnknownRecord,
} from "./read.js";
import { contentToPlain, toPlain } from "./to-plain.js";

/** The content of a LangChain message or chunk, read from any of its three encodings. */
export interface IncomingMessage {
  readonly type: string;
  /** A piece of a message rather than all of it. */
  readonly isChunk: boolean;
  readonly id: string | undefined;
  readonly text: string;
  /** Texts and media in their order; `undefined` where there is only text. */
  readonly parts: readonly ContentPart[] | undefined;
  readonly reasoning: string;
  readonly toolCallChunks: readonly unknown[];
  readonly toolCalls: readonly unknown[];
  readonly toolCallId: string | undefined;
  readonly name: string | undefined;
  readonly isError: boolean;
  readonly usage: TokenUsage | undefined;
  readonly finishReason: string | undefined;
  readonly model: string | undefined;
  readonly content: unknown;
  /** The sum of the log probabilities that the model gives for the tokens of the text. */
  readonly logprob: number | undefined;
}

/** Reads a message; `undefined` for other values. Touches only the fields it needs: this runs once per token. */
export function readMessage(raw: unknown): IncomingMessage | undefined {
  const outer = asRecord(raw);
  if (!outer) return undefined;
  const encoded = outer.lc === 1 && outer.type === "constructor";
  const fields = encoded ? asRecord(outer.kwargs) : outer;
  const type = messageType(outer);
  if (type === undefined || !fields) return undefined;
  const { content } = fields;
  const response = asRecord(fields.response_metadata);
  const chunks = fields.tool_call_chunks;
  return {
    type,
    isChunk: chunks !== undefined || isChunkClass(outer),
    id: asString(fields.id),
    text: (typeof content === "string" ? content : joinParts(content, textOfPart)) || readRefusal(fields),
    parts: typeof content === "string" ? undefined : shownParts(content),
    reasoning: readReasoning(fields, content),
    toolCallChunks: Array.isArray(chunks) ? chunks : NOTHING,
    toolCalls: Array.isArray(fields.tool_calls) ? fields.tool_calls : NOTHING,
    toolCallId: asString(fields.tool_call_id),
    name: asString(fields.name),
    isError: fields.status === "error",
    usage: fields.usage_metadata === undefined ? undefined : readUsage(fields.usage_metadata),
    finishReason: response && readFinishReason(response),
    model: response && (asString(response.model_name) ?? asString(response.model)),
    content,
    logprob: response && readLogprob(response.logprobs),
  };
}

/**
 * Reads the reason why a model call ended, under the provider's name: `finish_reason` (OpenAI), `stop_reason` (Anthropic),
 * `finishReason` (Google), `stopReason` (Bedrock), `done_reason` (Ollama), `status` (OpenAI's Responses API).
 * `undefined` while it continues.
 */
export function readFinishReason(response: UnknownRecord): string | undefined {
  return (
    asString(response.finish_reason) ??
    asString(response.stop_reason) ??
    asString(response.finishReason) ??
    asString(response.stopReason) ??
    asString(response.done_reason) ??
    endStatus(response.status)
  );
}

/** Drops the statuses that the Responses API sends while it works. */
function endStatus(status: unknown): string | undefined {
  return status === "in_progress" || status === "queued" ? undefined : asString(status);
}

/** Reads a refusal next to the content, as LangChain's OpenAI models send it: the reply has no other text. */
function readRefusal({ additional_kwargs }: UnknownRecord): string {
  return readString(additional_kwargs, "refusal") ?? "";
}

/** Sums the log probabilities in the form of OpenAI's models: one for each token of the chunk. */
function readLogprob(logprobs: unknown): number | undefined {
  const tokens = read(logprobs, "content");
  if (!Array.isArray(tokens) || tokens.length === 0) return undefined;
  return tokens.reduce<number>((sum, token) => sum + (readNumber(token, "logprob") ?? 0), 0);
}

const NOTHING: readonly unknown[] = [];

/** Whether a message was serialised from a chunk's class, where its encoding names the class. */
function isChunkClass(raw: UnknownRecord): boolean {
  const path = raw.id;
  const name: unknown = Array.isArray(path) ? path[path.length - 1] : raw.type;
  return typeof name === "string" && name.endsWith("Chunk");
}

function messageType(raw: UnknownRecord): string | undefined {
  const { type } = raw;
  if (typeof type === "string" && type !== "constructor") {
    // Python's server names chunks by class.
    return MESSAGE_TYPES[type] ?? type;
  }
  const getType = raw.getType ?? raw._getType;
  if (typeof getType === "function") return asString(Reflect.apply(getType, raw, []));
  if (type === "constructor") {
    const path = raw.id;
    const name: unknown = Array.isArray(path) ? path[path.length - 1] : undefined;
    return typeof name === "string" ? MESSAGE_TYPES[name] : undefined;
  }
  const { role } = raw;
  return typeof role === "string" ? (ROLE_TYPES[role] ?? role) : undefined;
}

const ROLE_TYPES: Readonly<Record<string, string>> = { user: "human", assistant: "ai", developer: "system" };

function readUsage(raw: unknown): TokenUsage | undefined {
  const input = readNumber(raw, "input_tokens");
  const output = readNumber(raw, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const count = (value: number | undefined) => Math.max(0, Math.trunc(value ?? 0));
  const total = readNumber(raw, "total_tokens");
  return {
    input_tokens: count(input),
    output_tokens: count(output),
    total_tokens: total === undefined ? count(input) + count(output) : count(total),
  };
}

function joinParts(content: unknown, textOf: (part: unknown) => string): string {
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content) text += textOf(part);
  return text;
}

/** The text of a content part, empty for a part of another kind. */
export function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  switch (readString(part, "type")) {
    case "text":
    case "text_delta":
    case "output_text":
    // LangChain's plain text document.
    case "text-plain":
      return readString(part, "text") ?? "";
    case "refusal":
      return readString(part, "refusal") ?? "";
    // Anthropic's.
    case "document": {
      const source = read(part, "source");
      return readString(source, "type") === "text" ? (readString(source, "data") ?? "") : "";
    }
    default:
      return "";
  }
}

/** The parts of a content with media that a person sees; `undefined` for a content without. */
function shownParts(content: unknown): readonly ContentPart[] | undefined {
  if (!Array.isArray(content) || !content.some(isMedia)) return undefined;
  const shown = content.flatMap((part): ContentPart[] => {
    if (isMedia(part)) return [toPart(contentToPlain(part))];
    const text = textOfPart(part);
    return text === "" ? [] : [{ type: "text", text }];
  });
  return joinTexts(shown);
}

function isMedia(part: unknown): boolean {
  return typeof part === "object" && part !== null && readMedia(part) !== undefined;
}

/** Converts parts to a message's content: texts alone become a string. */
export function shownContent(parts: readonly ContentPart[]): Message["content"] {
  return parts.every((part) => part.type === "text") ? joinParts(parts, textOfPart) : joinTexts(parts);
}

type TextPart = { type: "text"; text: string };

/** Joins adjacent texts, so that the result is independent of the number of chunks. */
function joinTexts<Part extends ContentPart>(parts: readonly Part[]): (Part | TextPart)[] {
  const joined: (Part | TextPart)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === "text" && last?.type === "text" && Object.keys(part).length === 2) {
      joined[joined.length - 1] = { type: "text", text: `${last.text}${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

function readReasoning(fields: UnknownRecord, content: unknown): string {
  if (Array.isArray(content)) {
    const inParts = joinParts(content, reasoningOfPart);
    if (inParts !== "") return inParts;
  }
  const extra = asRecord(fields.additional_kwargs);
  if (!extra) return "";
  return asString(extra.reasoning_content) ?? joinParts(read(extra.reasoning, "summary"), reasoningOfPart);
}

/** Providers disagree: `reasoning` (LangChain standard), `thinking` (Anthropic), `summary_text` (OpenAI). */
function reasoningOfPart(part: unknown): string {
  switch (readString(part, "type")) {
    case "reasoning":
      return (
        readString(part, "reasoning") ??
        readString(part, "text") ??
        joinParts(read(part, "summary"), reasoningOfPart)
      );
    case "thinking":
      return readString(part, "thinking") ?? "";
    case "summary_text":
      return readString(part, "text") ?? "";
    default:
      return "";
  }
}

const ROLES: Readonly<Record<string, MessageRole>> = {
  human: "user",
  ai: "assistant",
  tool: "tool",
  system: "system",
  developer: "developer",
};

/** Converts a finished message to our own shape; `undefined` for kinds that no client shows (`remove`, `function`). */
export function toMessage(raw: unknown): Message | undefined {
  const incoming = readMessage(raw);
  const role = incoming && ROLES[incoming.type];
  if (!incoming || !role || incoming.id === undefined) return undefined;
  const message: Message = { id: incoming.id, role, content: contentFor(role, incoming) };
  if (incoming.name !== undefined) message.name = incoming.name;
  if (role === "assistant") {
    if (incoming.reasoning !== "") message.reasoning = incoming.reasoning;
    const calls = incoming.toolCalls.map(toToolCall).filter((call) => call !== undefined);
    if (calls.length > 0) message.tool_calls = calls;
  }
  if (role === "tool") {
    if (incoming.toolCallId !== undefined) message.tool_call_id = incoming.toolCallId;
    if (incoming.isError) message.status = "error";
  }
  return message;
}

/** Converts the `messages` of a state, in order; other values are dropped. */
export function toMessages(raw: unknown): readonly Message[] {
  return Array.isArray(raw) ? raw.flatMap((item) => toMessage(item) ?? []) : [];
}

/** An assistant's parts are its text and media (calls and reasoning have fields of their own); a user's are unchanged. */
function contentFor(role: MessageRole, { content, text, parts }: IncomingMessage): Message["content"] {
  if (typeof content === "string") return text;
  if (role === "assistant") return parts ? shownContent(parts) : text;
  return role === "tool" ? toResultContent(content) : toParts(contentToPlain(content), text);
}

function toParts(plain: Json, text: string): Message["content"] {
  if (!Array.isArray(plain)) return plain === null ? "" : JSON.stringify(plain);
  const parts = plain.map(toPart);
  return parts.every((part) => part.type === "text") ? text : parts;
}

function toPart(part: Json): PlainPart {
  if (isJsonObject(part)) return { ...part, type: typeof part.type === "string" ? part.type : "unknown" };
  return { type: "text", text: typeof part === "string" ? part : JSON.stringify(part) };
}

export function toToolCall(raw: unknown): { id: string; name: string; args: string } | undefined {
  const id = readString(raw, "id");
  const name = readString(raw, "name");
  if (id === undefined || name === undefined) return undefined;
  const args = read(raw, "args");
  return { id, name, args: typeof args === "string" ? args : JSON.stringify(toPlain(args ?? {})) };
}

/** A part that is JSON, as all parts are that were read here. */
type PlainPart = JsonObject & { type: string };

/** A tool message's content as clients show it: text, or text and media; anything else is JSON as text. */
export function toResultContent(content: unknown): string | PlainPart[] {
  if (typeof content === "string") return content;
  return resultContent(contentToPlain(content));
}

/** As `toResultContent`, for a result that is plain JSON. */
export function resultContent(plain: Json): string | PlainPart[] {
  if (typeof plain === "string") return plain;
  if (Array.isArray(plain)) {
    if (plain.some(isMedia)) return joinTexts(plain.map(toPart));
    if (plain.every((part) => isJsonObject(part) && part.type === "text"))
      return joinParts(plain, textOfPart);
  }
  return plain === null ? "" : JSON.stringify(plain);
}
