import { z } from "zod";

/** A message reduced to what every side must agree on. */
export interface ComparableMessage {
  readonly id: string;
  readonly role: string;
  readonly text: string;
  readonly toolCalls: readonly ComparableToolCall[];
  readonly toolCallId?: string;
  readonly result?: string;
}

export interface ComparableToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish();

const clientMessageSchema = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: z.unknown().optional(),
  toolCalls: z
    .array(
      z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }),
    )
    .optional(),
  toolCallId: z.string().optional(),
  subagentRunId: z.string().optional(),
});

const graphMessageSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  content: contentSchema,
  tool_calls: z.array(z.looseObject({ id: z.string(), name: z.string(), args: z.unknown() })).optional(),
  tool_call_id: z.string().optional(),
});

/** Reasoning and activities have no counterpart in a graph's messages; a subagent's belong to another conversation. */
const NOT_CONVERSATION = new Set(["reasoning", "activity"]);

const ROLE_OF_TYPE: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  tool: "tool",
  system: "system",
};

/** Results of one message's parallel calls have no order of their own: they are compared by call. */
export function inCallOrder(messages: readonly ComparableMessage[]): readonly ComparableMessage[] {
  const groups: ComparableMessage[][] = [];
  for (const message of messages) {
    const last = groups[groups.length - 1];
    if (message.role === "tool" && last?.[0]?.role === "tool") last.push(message);
    else groups.push([message]);
  }
  return groups.flatMap((group) =>
    group.sort((a, b) => ((a.toolCallId ?? "") < (b.toolCallId ?? "") ? -1 : 1)),
  );
}

/** An AG-UI client's messages. */
export function normaliseClientMessages(messages: readonly object[]): readonly ComparableMessage[] {
  return messages.flatMap((message) => {
    const parsed = clientMessageSchema.parse(message);
    if (NOT_CONVERSATION.has(parsed.role) || parsed.subagentRunId !== undefined) return [];
    const calls = parsed.toolCalls ?? [];
    return comparable({
      id: parsed.id,
      role: parsed.role,
      text: textOf(contentSchema.parse(parsed.content)),
      toolCalls: calls.map((call) => ({
        id: call.id,
        name: call.function.name,
        args: argsOf(call.function.arguments),
      })),
      toolCallId: parsed.toolCallId,
    });
  });
}

/** `values.messages` of a LangGraph state. */
export function normaliseGraphMessages(messages: readonly unknown[]): readonly ComparableMessage[] {
  return messages.flatMap((message) => {
    const parsed = graphMessageSchema.parse(message);
    return comparable({
      id: parsed.id,
      role: ROLE_OF_TYPE[parsed.type] ?? parsed.type,
      text: textOf(parsed.content),
      toolCalls: (parsed.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, args })),
      toolCallId: parsed.tool_call_id,
    });
  });
}

function comparable({
  toolCallId,
  text,
  ...message
}: Omit<ComparableMessage, "toolCallId"> & { readonly toolCallId: string | undefined }): ComparableMessage {
  return toolCallId === undefined ? { ...message, text } : { ...message, text: "", toolCallId, result: text };
}

function textOf(content: z.infer<typeof contentSchema>): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : mediaOf(part)))
    .join("");
}

/** A stored file, as it stands in a text. */
function mediaOf({ type, source_type, url, mime_type, metadata }: Readonly<Record<string, unknown>>): string {
  if (source_type !== "url") return "";
  const { filename } = z.looseObject({ filename: z.string().optional() }).parse(metadata);
  const name = (filename ?? String(mime_type)).replace("[", "\\[").replace("]", "\\]");
  return `\n\n${type === "image" ? "!" : ""}[${name}](${url})\n\n`;
}

/** Unfinished or repeated JSON stays text, which no parsed arguments equal. */
function argsOf(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
