import type { UsageView } from "@throughline/agent-client";
import { z } from "zod";

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

export function usageLine(usage: UsageView): string | undefined {
  const { modelCalls: calls, inputTokens: read, outputTokens: written, costUsd, isComplete } = usage;
  if (calls === 0) return undefined;
  const times = calls === 1 ? "1 model call" : `${calls} model calls`;
  if (read + written === 0) return times;
  const rest = isComplete ? "" : " and calls without a price yet";
  // Of a service that meters nothing it is not there.
  const price = typeof costUsd === "number" ? `, $${costUsd.toFixed(4)}${rest}` : "";
  return `${times}, ${read} tokens in, ${written} out${price}`;
}
