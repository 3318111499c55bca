import type { LoggedFrame } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import { cursorPlace } from "./cursor-place";
import { summaryOf } from "./summary-of";
import type { LoggedEnvelope } from "./thread-log";

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
export function latencyOf({ at, envelope }: Pick<LoggedEnvelope, "at" | "envelope">): number | undefined {
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
