import type { LoggedFrame } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import * as z from "zod/mini";
import type { Failure } from "../../agent-ui/conversation/failure";
import { cursorPlace, type LoggedEnvelope, type ThreadLogSnapshot } from "./thread-log";

/** One line of either list. Made when it is drawn, so that a long log costs what is seen of it. */
export interface LogRow {
  readonly key: string;
  readonly cursor: string | undefined;
  /** Its number in the log: what an envelope and the frames it became have in common. */
  readonly seq: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: string;
  readonly summary: string;
  /** From when it happened to when it was here; of what was told later, nothing. */
  readonly latencyMs: number | undefined;
  readonly text: string;
}

export function envelopeRow({ cursor, at, envelope, text }: LoggedEnvelope): LogRow {
  return {
    key: cursor,
    cursor,
    seq: cursorPlace(cursor)?.seq,
    time: envelope.ts * 1_000,
    type: envelope.type,
    summary: summaryOf(envelope.payload as Json),
    latencyMs: latencyOf({ at, envelope }),
    text,
  };
}

/** Two clocks may differ by a little: nothing arrives before it happened. */
function latencyOf({ at, envelope }: Pick<LoggedEnvelope, "at" | "envelope">): number | undefined {
  return envelope.origin === "live" ? Math.max(0, Math.round(at - envelope.ts * 1_000)) : undefined;
}

const frameTexts = new WeakMap<object, string>();

export function frameText(frame: LoggedFrame): string {
  let text = frameTexts.get(frame.event);
  if (text === undefined) {
    text = JSON.stringify(frame.event);
    frameTexts.set(frame.event, text);
  }
  return text;
}

export function frameRow(frame: LoggedFrame, index: number): LogRow {
  const { type, metadata: _metadata, ...rest } = frame.event;
  return {
    key: frame.id ?? `${frame.at}-${index}`,
    cursor: frame.id,
    seq: cursorPlace(frame.id)?.seq,
    time: frame.at,
    type,
    summary: summaryOf(rest as Json),
    latencyMs: undefined,
    text: frameText(frame),
  };
}

/** What tells most, first: an entry's own words, then its names, then how it came out. */
const TELLING = [
  "text",
  "reasoning",
  "delta",
  "tool_name",
  "toolCallName",
  "node",
  "stepName",
  "name",
  "status",
  "error",
  "content",
  "message",
  "code",
  "data",
  "value",
  "ops",
  "state",
  "snapshot",
  "messages",
];
const LONGEST = 160;

/** One line that says what an entry is about. */
export function summaryOf(payload: Json): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return brief(payload);
  if (payload.class !== undefined && typeof payload.message === "string")
    return cut(
      [payload.node, `${brief(payload.name ?? "Error")}: ${brief(payload.message)}`]
        .filter(Boolean)
        .join(" · "),
    );
  const told = TELLING.filter((key) => payload[key] !== undefined && payload[key] !== null).slice(0, 2);
  if (told.length > 0) return cut(told.map((key) => brief(payload[key] ?? null)).join(" · "));
  const first = Object.entries(payload).slice(0, 2);
  return cut(first.map(([key, value]) => `${key} ${brief(value)}`).join(" · "));
}

function brief(value: Json): string {
  if (typeof value === "string") return cut(value.replaceAll("\n", "↵"));
  if (Array.isArray(value)) {
    const [first] = value;
    const path =
      typeof first === "object" && first !== null && !Array.isArray(first) ? first.path : undefined;
    if (typeof path === "string") return value.length === 1 ? path : `${path} and ${value.length - 1} more`;
    return `${value.length} ${value.length === 1 ? "item" : "items"}`;
  }
  if (typeof value === "object" && value !== null && typeof value.message === "string")
    return brief(value.message);
  if (typeof value === "object" && value !== null) return Object.keys(value).slice(0, 6).join(", ");
  return String(value);
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const told = {
  message: z.string(),
  class: z.optional(z.enum(["graph", "node", "tool", "model", "upstream", "store", "cancelled"])),
  node: z.nullish(z.string()),
};
const errorSchema = z.object({ ...told, name: z.optional(z.string()), stack: z.optional(z.string()) });
const ownSchema = z.object({ name: z.string(), message: z.string(), stack: z.optional(z.string()) });
const endSchema = z.object({ ...told, code: z.string(), own: z.optional(ownSchema) });
const entrySchema = z.union([
  z.object({ type: z.literal("error"), payload: errorSchema }),
  z.object({ type: z.literal("run_end"), payload: z.object({ error: endSchema }) }),
  z.object({
    type: z.literal("RUN_ERROR"),
    message: z.string(),
    code: z.optional(z.string()),
    metadata: z.object({ throughline: z.omit(endSchema, { code: true, message: true }) }),
  }),
]);

/** What an entry of the log, or a frame, says of a failure; `undefined`: it is about something else. */
export function failureIn(text: string): Failure | undefined {
  const read = entrySchema.safeParse(parsed(text));
  if (!read.success) return undefined;
  const entry = read.data;
  switch (entry.type) {
    case "error":
      return entry.payload;
    case "run_end": {
      const { own, ...error } = entry.payload.error;
      return { ...error, ...own };
    }
    case "RUN_ERROR": {
      const { own, ...error } = entry.metadata.throughline;
      return { ...error, message: entry.message, code: entry.code, ...own };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NEWEST = 50;

/** How late the newest entries were here, by their median: one slow one says little. */
export function latencyWords({ entries, count }: Pick<ThreadLogSnapshot, "entries" | "count">): string {
  const latencies = entries
    .slice(Math.max(0, count - NEWEST), count)
    .flatMap((entry) => latencyOf(entry) ?? [])
    .sort((a, b) => a - b);
  const median = latencies[Math.floor(latencies.length / 2)];
  return median === undefined ? "" : `${median} ms`;
}
