import type { CommittedEntries, EntriesWake } from "../log/log-store.js";
import { DIGEST_BYTES, threadDigest } from "../thread-ref.js";

// `version instance thread*`; a thread is `digest epochLength epoch first count length* text*`. Numbers are big-endian. A
// thread without texts has changed, and is to be read from the log.

const VERSION = 1;
export const INSTANCE_LENGTH = 8;
const HEADER_BYTES = 1 + INSTANCE_LENGTH;
/** Length of `epochLength first count`. */
const FIXED_BYTES = 1 + 6 + 4;
/** Texts of one message. What does not fit any more is named without them. */
const MAX_TEXT_BYTES = 1_048_576;

export type BusMessage =
  | { readonly kind: "own" }
  /** The message is of an unknown version, or damaged. */
  | { readonly kind: "unreadable" }
  | { readonly kind: "commits"; readonly commits: readonly EntriesWake[] };

/** One buffer for a whole commit: texts are written once, where they are sent from. */
export function encodeBusMessage(instance: string, commits: readonly CommittedEntries[]): Buffer {
  let room = MAX_TEXT_BYTES;
  let size = HEADER_BYTES;
  const parts = commits.map((commit) => {
    const bytes = commit.entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const entries = bytes <= room ? commit.entries : [];
    if (entries.length > 0) room -= bytes;
    const epoch = Buffer.from(commit.epoch);
    size +=
      DIGEST_BYTES + FIXED_BYTES + epoch.length + entries.reduce((sum, entry) => sum + 4 + entry.bytes, 0);
    return { ...commit, epoch, entries };
  });
  const buffer = Buffer.allocUnsafe(size);
  let at = buffer.writeUInt8(VERSION);
  at += buffer.write(instance, at, INSTANCE_LENGTH, "latin1");
  for (const { thread, epoch, first, entries } of parts) {
    at += buffer.write(threadDigest(thread), at, DIGEST_BYTES, "latin1");
    at = buffer.writeUInt8(epoch.length, at);
    at += epoch.copy(buffer, at);
    at = buffer.writeUIntBE(first, at, 6);
    at = buffer.writeUInt32BE(entries.length, at);
    for (const { bytes } of entries) at = buffer.writeUInt32BE(bytes, at);
    for (const { text, bytes } of entries) at += buffer.write(text, at, bytes, "utf8");
  }
  return buffer;
}

/** Reads headers only: texts are made when they are asked for, which is only where the thread has subscribers. */
export function decodeBusMessage(instance: string, buffer: Buffer): BusMessage {
  try {
    if (buffer.readUInt8() !== VERSION) return { kind: "unreadable" };
    if (buffer.toString("latin1", 1, HEADER_BYTES) === instance) return { kind: "own" };
    const commits: EntriesWake[] = [];
    let at = HEADER_BYTES;
    while (at < buffer.length) {
      const { commit, end } = decodeCommit(buffer, at);
      commits.push(commit);
      at = end;
    }
    return at === buffer.length ? { kind: "commits", commits } : { kind: "unreadable" };
  } catch {
    return { kind: "unreadable" };
  }
}

function decodeCommit(buffer: Buffer, from: number): { readonly commit: EntriesWake; readonly end: number } {
  let at = from + DIGEST_BYTES;
  const digest = buffer.toString("latin1", from, at);
  const epochEnd = at + 1 + buffer.readUInt8(at);
  const epoch = buffer.toString("utf8", at + 1, epochEnd);
  const first = buffer.readUIntBE(epochEnd, 6);
  const count = buffer.readUInt32BE(epochEnd + 6);
  at = epochEnd + FIXED_BYTES - 1;
  const textsFrom = at + 4 * count;
  let end = textsFrom;
  for (; at < textsFrom; at += 4) end += buffer.readUInt32BE(at);
  const lengthsFrom = textsFrom - 4 * count;
  const texts = () => {
    let next = textsFrom;
    return Array.from({ length: count }, (_, index) => {
      const begin = next;
      next += buffer.readUInt32BE(lengthsFrom + 4 * index);
      return buffer.toString("utf8", begin, next);
    });
  };
  return { commit: { kind: "entries", digest, epoch, first, count, texts }, end };
}
