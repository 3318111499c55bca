import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";

/** A message as one comparable line: role, id where the author gave one, text, calls. Random ids are left out. */
export function lineOf(message: BaseMessage): string {
  const role = { human: "user", ai: "assistant" }[message.getType() as string] ?? message.getType();
  const calls = "tool_calls" in message ? callSchema.parse(message.tool_calls ?? []) : [];
  const answers = "tool_call_id" in message ? String(message.tool_call_id) : undefined;
  return line({
    role,
    id: message.id,
    text: shownText(message),
    calls: calls.map(({ id, name, args }) => ({ id, name, args })),
    answers,
  });
}
/** Text as the service shows it: files as Markdown, a refusal as the text it is. */
export function shownText({ content, text }: BaseMessage): string {
  if (typeof content === "string") return text;
  const blocks = z.array(blockSchema).parse(content);
  return blocks
    .map(({ type, text: said, refusal, image_url }) => {
      if (type === "image_url") return `\n\n![image/png](${image_url?.url})\n\n`;
      return said ?? refusal ?? "";
    })
    .join("");
}
const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.object({ url: z.string() }).optional(),
});
const callSchema = z.array(z.object({ id: z.string().optional(), name: z.string(), args: z.unknown() }));

const agUiSchema = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: z.unknown().optional(),
  toolCallId: z.string().optional(),
  toolCalls: z
    .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
    .optional(),
});

/** The same of messages that an AG-UI client shows; reasoning is no message of the graph's. */
export function linesShown(messages: readonly object[]): string[] {
  const lines = messages.flatMap((given) => {
    const { id, role, content, toolCalls = [], toolCallId, ...rest } = agUiSchema.parse(given);
    if (role === "reasoning" || role === "activity" || rest.subagentRunId !== undefined) return [];
    const calls = toolCalls.map((call) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments || "{}") as unknown,
    }));
    return [line({ role, id, text: textOf(content), calls, answers: toolCallId })];
  });
  return inCallOrder(lines);
}

interface Line {
  readonly role: string;
  readonly id: string | undefined;
  readonly text: string;
  readonly calls: readonly {
    readonly id?: string | undefined;
    readonly name: string;
    readonly args: unknown;
  }[];
  readonly answers: string | undefined;
}

function line({ role, id = "", text, calls, answers }: Line): string {
  return [
    role,
    isRandom(id) ? "~" : id,
    ...(answers === undefined ? [] : [`of ${answers}`]),
    JSON.stringify(text),
    ...calls.map(({ id: call, name, args }) => `${call}:${name}(${JSON.stringify(args)})`),
  ].join(" ");
}

/** Ids of LangChain, LangGraph and the service itself; an author's own have none of these shapes. */
function isRandom(id: string): boolean {
  return id === "" || /[0-9a-f]{8}-[0-9a-f]{4}-|^run-|^msg_|^throughline|^lc_/.test(id);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).safeParse(content);
  return (parts.data ?? []).map((part) => part.text ?? "").join("");
}

/** Lines with neighbouring tool results sorted: results of parallel calls have no order of their own. */
export function inCallOrder(lines: readonly string[]): string[] {
  const ordered: string[] = [];
  let results: string[] = [];
  for (const each of lines) {
    if (each.startsWith("tool ")) results.push(each);
    else {
      ordered.push(...results.sort(), each);
      results = [];
    }
  }
  return [...ordered, ...results.sort()];
}

/** A state without its messages as JSON holds it. */
export function plainValues(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const rest = Object.entries(values).filter(([key]) => key !== "messages" && !key.startsWith("__"));
  return z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(JSON.stringify(Object.fromEntries(rest), (_, value: unknown) => asJson(value))));
}

function asJson(value: unknown): unknown {
  const message = messageSchema.safeParse(value).data;
  if (message) return { message: message.kwargs?.content ?? message.content };
  if (typeof value === "string" && ISO_TIME.test(value) && !value.startsWith("1970")) return "a time";
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (typeof value === "bigint") return String(value);
  return value;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The two spellings of a message in a state: LangChain's constructor notation, and the dictionary the service shows. */
const messageSchema = z.union([
  z.object({
    lc: z.literal(1),
    kwargs: z.looseObject({ content: z.unknown() }),
    content: z.undefined().optional(),
  }),
  z.object({
    type: z.enum(["human", "ai", "system", "tool"]),
    content: z.unknown(),
    kwargs: z.undefined().optional(),
  }),
]);
