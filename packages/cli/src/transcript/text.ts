import type { RunUsage, ThreadMessage } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { z } from "zod";

/** A message as text: files by their names and URLs. */
export function textOf(content: ThreadMessage["content"] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(textOfPart).join("\n");
}

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string().optional() }).optional(),
  metadata: z.looseObject({ filename: z.string().optional() }).nullish(),
});

/** A file is shown as in the texts of assistants and tools. */
function textOfPart(part: JsonObject): string {
  const read = partSchema.safeParse(part).data;
  if (!read) return "";
  const { type, text, source, metadata } = read;
  if (text !== undefined) return text;
  const name = metadata?.filename ?? type;
  return source?.type === "url" && source.value !== undefined ? `[${name}](${source.value})` : `[${name}]`;
}

const progressSchema = z.looseObject({ step: z.number(), of: z.number(), note: z.string().default("") });
const updateSchema = z.looseObject({
  toolCallId: z.string().optional(),
  toolName: z.string().default("tool"),
  data: z.unknown(),
});
const warningSchema = z.looseObject({ message: z.string() });

/** A value of a graph or a tool as a person reads it in a line. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  const counted = progressSchema.safeParse(value).data;
  if (counted) return `${counted.step}/${counted.of} ${counted.note}`.trim();
  return JSON.stringify(value) ?? "";
}

export function describeProgress(value: unknown): {
  readonly toolCallId: string | undefined;
  readonly text: string;
} {
  const { toolCallId, toolName, data } = updateSchema.safeParse(value).data ?? {
    toolName: "tool",
    data: value,
  };
  return { toolCallId, text: `${toolName}: ${oneLine(describeValue(data), 200)}` };
}

export function describeWarning(value: unknown): string {
  return warningSchema.safeParse(value).data?.message ?? describeValue(value);
}

/** One line of at most so many characters. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

export function usageLine(usage: RunUsage): string | undefined {
  const { modelCalls: calls, inputTokens: read, outputTokens: written, costUsd, isComplete } = usage;
  if (calls === 0) return undefined;
  const times = calls === 1 ? "1 model call" : `${calls} model calls`;
  if (read + written === 0) return times;
  const rest = isComplete ? "" : " and calls without a price yet";
  // A service that meters nothing sends no price.
  const price = typeof costUsd === "number" ? `, $${costUsd.toFixed(4)}${rest}` : "";
  return `${times}, ${read} tokens in, ${written} out${price}`;
}
