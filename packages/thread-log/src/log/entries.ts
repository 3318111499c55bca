import type { Envelope, LogEntry, LogPosition } from "@throughline/ai-core";
import type { NewEntry, StoredEntry, StoredRange } from "./log-store.js";
import type { Batch, Deleted, Gap } from "./thread-log.js";

export function encodeEnvelope(envelope: Envelope): NewEntry {
  const text = JSON.stringify(envelope);
  return {
    text,
    bytes: Buffer.byteLength(text),
    endOfRun: envelope.type === "run_end" ? envelope.run_id : undefined,
  };
}

/** Not validated again: only `encodeEnvelope` writes these, and a schema would cost more than the read itself. */
export function decodeEntry(epoch: string, stored: StoredEntry): LogEntry {
  return { epoch, seq: stored.seq, envelope: JSON.parse(stored.text) as Envelope };
}

export type RangeAnswer = Batch | Deleted | Omit<Gap, "kept">;

/** R3: the response to a reader at `after`, given what the store found. Only this function decides between entries and a gap. */
export function answerRange(range: StoredRange | undefined, after: LogPosition | undefined): RangeAnswer {
  if (range === undefined) {
    return after === undefined
      ? { kind: "entries", entries: [], head: undefined }
      : { kind: "gap", reason: "epoch", head: undefined };
  }
  const { epoch } = range;
  const head: LogPosition = { epoch, seq: range.head };
  if (after !== undefined && after.epoch !== epoch) {
    if (range.deleted) return { kind: "deleted" };
    const isContinued = range.continuedAt !== undefined && after.seq <= range.continuedAt;
    return {
      kind: "gap",
      reason: "epoch",
      head,
      ...(isContinued && { resumeAt: { epoch, seq: after.seq } }),
    };
  }
  const afterSeq = after?.seq ?? 0;
  if (afterSeq > range.head) return { kind: "gap", reason: "ahead", head };
  if (afterSeq + 1 < range.floor) return { kind: "gap", reason: "trimmed", head };
  if (range.resumeAt !== undefined) {
    return { kind: "gap", reason: "compacted", head, resumeAt: { epoch, seq: range.resumeAt } };
  }
  return { kind: "entries", entries: range.entries.map((entry) => decodeEntry(epoch, entry)), head };
}
