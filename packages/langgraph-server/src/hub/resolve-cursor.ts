import type { LogPosition } from "@throughline/ai-core";
import { type FrameCursor, parseFrameCursor } from "@throughline/reading";
import type { ReadResult } from "@throughline/thread-log";

/**
 * A client's cursor as a cursor of the log at `position`; `undefined` where it is none. One from before a restore stays
 * good as far as the backup had come (R19).
 */
export async function resolveCursor(
  text: string,
  position: LogPosition | undefined,
  read: (after: LogPosition) => Promise<ReadResult>,
): Promise<FrameCursor | "deleted" | undefined> {
  const cursor = parseFrameCursor(text);
  if (!cursor || !position) return undefined;
  if (cursor.epoch === position.epoch) return cursor;
  const page = await read({ epoch: cursor.epoch, seq: cursor.seq });
  if (page.kind === "deleted") return "deleted";
  const continued = page.kind === "gap" ? page.resumeAt : undefined;
  return continued?.epoch === position.epoch ? { ...cursor, ...continued } : undefined;
}
