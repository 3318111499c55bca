import type { RecordedFrame } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import * as z from "zod/mini";
import type { Failure } from "../../agent-ui/conversation/failure";
import { cursorPosition, type LoggedEnvelope, type ThreadLogSnapshot } from "./thread-log";

/** One row of either list. Created when it is drawn, so that the cost of a long log is that of its visible rows. */
export interface LogRow {
  readonly key: string;
  readonly cursor: string | undefined;
  /** Its number in the log, which an envelope shares with the frames encoded from it. */
  readonly seq: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: string;
  readonly summary: string;
  /** Time from writing to arrival; `undefined` for entries that were replayed. */
  readonly latencyMs: number | undefined;
  readonly text: string;
}

export function envelopeRow({ cursor, at, envelope, text }: LoggedEnvelope): LogRow {
  return {
    key: cursor,
    cursor,
    seq: cursorPosition(cursor)?.seq,
    time: envelope.ts * 1_000,
    type: envelope.type,
    summary: summaryOf(envelope.payload as Json),
    latencyMs: latencyOf({ at, envelope }),
    text,
  };
}

/** Latency of a live entry. Two clocks may differ a little, so it is never below 0. */
function latencyOf({ at, envelope }: Pick<LoggedEnvelope, "at" | "envelope">): number | undefined {
  return envelope.origin === "live" ? Math.max(0, Math.round(at - envelope.ts * 1_000)) : undefined;
}

const frameTexts = new WeakMap<object, string>();

export function frameText(frame: RecordedFrame): string {
  let text = frameTexts.get(frame.event);
  if (text === undefined) {
    text = JSON.stringify(frame.event);
    frameTexts.set(frame.event, text);
  }
  return text;
}

export function frameRow(frame: RecordedFrame, index: number): LogRow {
  const { type, metadata: _metadata, ...rest } = frame.event;
  return {
    key: frame.id ?? `${frame.at}-${index}`,
    cursor: frame.id,
    seq: cursorPosition(frame.id)?.seq,
    time: frame.at,
    type,
    summary: summaryOf(rest as Json),
    latencyMs: undefined,
    text: frameText(frame),
  };
}

/** Fields of a summary, most informative first: an entry's text, then its names, then its outcome. */
const SUMMARY_KEYS = [
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

/** Summarizes an entry in one line. */
export function summaryOf(payload: Json): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return brief(payload);
  if (payload.class !== undefined && typeof payload.message === "string")
    return cut(
      [payload.node, `${brief(payload.name ?? "Error")}: ${brief(payload.message)}`]
        .filter(Boolean)
        .join(" · "),
    );
  const present = SUMMARY_KEYS.filter((key) => payload[key] !== undefined && payload[key] !== null).slice(
    0,
    2,
  );
  if (present.length > 0) return cut(present.map((key) => brief(payload[key] ?? null)).join(" · "));
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

const failureFields = {
  message: z.string(),
  class: z.optional(z.enum(["graph", "node", "tool", "model", "upstream", "store", "cancelled"])),
  node: z.nullish(z.string()),
};
const errorSchema = z.object({
  ...failureFields,
  name: z.optional(z.string()),
  stack: z.optional(z.string()),
});
const ownSchema = z.object({ name: z.string(), message: z.string(), stack: z.optional(z.string()) });
const endSchema = z.object({ ...failureFields, code: z.string(), own: z.optional(ownSchema) });
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

/** Parses the failure of a log entry or a frame; `undefined`: it contains none. */
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

/** Median latency of the newest entries, which a single slow one does not distort. */
export function latencyText({ entries, count }: Pick<ThreadLogSnapshot, "entries" | "count">): string {
  const latencies = entries
    .slice(Math.max(0, count - NEWEST), count)
    .flatMap((entry) => latencyOf(entry) ?? [])
    .sort((a, b) => a - b);
  const median = latencies[Math.floor(latencies.length / 2)];
  return median === undefined ? "" : `${median} ms`;
}
