import type { Envelope, LogEntry } from "@throughline/ai-core";
import type { NewEntry, StoredEntry } from "../port/log-store.js";

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
