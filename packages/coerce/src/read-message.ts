import type { ContentPart, Json, JsonObject, Message, MessageRole, TokenUsage } from "@throughline/ai-core";
import { readMedia } from "./media.js";
import { MESSAGE_TYPES } from "./message-fields.js";
import { asLoose, asString, isJsonObject, type Loose, read, readNumber, readString } from "./read.js";
import { contentToPlain, toPlain } from "./to-plain.js";

/** What a LangChain message or chunk says, whichever of its three encodings carried it. */
export interface IncomingMessage {
  readonly type: string;
  /** A piece of a message rather than all of it. */
  readonly isChunk: boolean;
  readonly id: string | undefined;
  readonly text: string;
  /** Words and media in their order; `undefined` where there is nothing but words. */
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
  /** Of the text: the sum of what the model gives for its tokens. */
  readonly logprob: number | undefined;
}

/** `undefined` for anything that is not a message. Touches only the fields it needs: this runs once per token. */
export function readMessage(raw: unknown): IncomingMessage | undefined {
  const outer = asLoose(raw);
  if (!outer) return undefined;
  const encoded = outer.lc === 1 && outer.type === "constructor";
  const fields = encoded ? asLoose(outer.kwargs) : outer;
  const type = messageType(outer);
  if (type === undefined || !fields) return undefined;
  const { content } = fields;
  const response = asLoose(fields.response_metadata);
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
 * Why a model call ended, in whichever name the provider gives it: `finish_reason` (OpenAI), `stop_reason` (Anthropic),
 * `finishReason` (Google), `stopReason` (Bedrock), `done_reason` (Ollama), `status` (OpenAI's Responses API).
 * `undefined` while it goes on.
 */
export function readFinishReason(response: Loose): string | undefined {
  return (
    asString(response.finish_reason) ??
    asString(response.stop_reason) ??
    asString(response.finishReason) ??
    asString(response.stopReason) ??
    asString(response.done_reason) ??
    endStatus(response.status)
  );
}

/** The Responses API names a status while it works, too. */
function endStatus(status: unknown): string | undefined {
  return status === "in_progress" || status === "queued" ? undefined : asString(status);
}

/** A refusal that stands beside the content, as LangChain's OpenAI models give it: the answer has no other text. */
function readRefusal({ additional_kwargs }: Loose): string {
  return readString(additional_kwargs, "refusal") ?? "";
}

/** As OpenAI's models give them: one for each token of this piece. */
function readLogprob(logprobs: unknown): number | undefined {
  const tokens = read(logprobs, "content");
  if (!Array.isArray(tokens) || tokens.length === 0) return undefined;
  return tokens.reduce<number>((sum, token) => sum + (readNumber(token, "logprob") ?? 0), 0);
}

const NOTHING: readonly unknown[] = [];

/** The class a message was serialised from, where its encoding names one. */
function isChunkClass(raw: Loose): boolean {
  const path = raw.id;
  const name: unknown = Array.isArray(path) ? path[path.length - 1] : raw.type;
  return typeof name === "string" && name.endsWith("Chunk");
}

function messageType(raw: Loose): string | undefined {
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

/** What a person sees of a content that has media; `undefined` for any other. */
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

/** Parts as a message's content: nothing but words is text. */
export function shownContent(parts: readonly ContentPart[]): Message["content"] {
  return parts.every((part) => part.type === "text") ? joinParts(parts, textOfPart) : joinTexts(parts);
}

type TextPart = { type: "text"; text: string };

/** Texts side by side as one, so that it makes no difference in how many pieces they came. */
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

function readReasoning(fields: Loose, content: unknown): string {
  if (Array.isArray(content)) {
    const inParts = joinParts(content, reasoningOfPart);
    if (inParts !== "") return inParts;
  }
  const extra = asLoose(fields.additional_kwargs);
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

/** A finished message in our own shape, or `undefined` for kinds no client shows (`remove`, `function`). */
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

/** The `messages` of a state, in order, without what is none. */
export function toMessages(raw: unknown): readonly Message[] {
  return Array.isArray(raw) ? raw.flatMap((item) => toMessage(item) ?? []) : [];
}

/** An assistant's parts are its text and media (calls and reasoning have fields of their own); a user's are kept as they are. */
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

/** A part that is JSON, as all are that were read here. */
type PlainPart = JsonObject & { type: string };

/** A tool message's content as clients show it: text, or text and media; anything else is JSON as text. */
export function toResultContent(content: unknown): string | PlainPart[] {
  if (typeof content === "string") return content;
  return resultContent(contentToPlain(content));
}

/** The same of a result that is plain already. */
export function resultContent(plain: Json): string | PlainPart[] {
  if (typeof plain === "string") return plain;
  if (Array.isArray(plain)) {
    if (plain.some(isMedia)) return joinTexts(plain.map(toPart));
    if (plain.every((part) => isJsonObject(part) && part.type === "text"))
      return joinParts(plain, textOfPart);
  }
  return plain === null ? "" : JSON.stringify(plain);
}
