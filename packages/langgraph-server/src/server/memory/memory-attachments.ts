import { ThroughlineError } from "@throughline/ai-core";
import {
  admitInMemory,
  type MemoryDatabase,
  subjectKey,
  type ThreadRef,
  threadKey,
} from "@throughline/thread-log";
import {
  type Attachment,
  type AttachmentStore,
  CHUNK_BYTES,
  type FileSweep,
  NO_FILES_SWEPT,
  type StorageCaps,
  type Upload,
} from "../../attachments/attachment-store.js";
import { type ByteRange, wholeFile } from "../../attachments/byte-range.js";

interface Held extends Attachment {
  readonly chunks: readonly Uint8Array[];
  isNamed: boolean;
}

interface UploadUnderWay {
  readonly thread: ThreadRef;
  bytes: number;
  touchedAt: number;
}

interface HeldThread {
  readonly thread: ThreadRef;
  readonly held: Map<string, Held>;
}

interface HeldFiles {
  readonly threads: Map<string, HeldThread>;
  readonly uploads: Set<UploadUnderWay>;
}

/** Attachments by database: instances that share one share its attachments. */
const stores = new WeakMap<MemoryDatabase, HeldFiles>();

/** All attachments of a database, without their contents. */
export function attachmentsInMemory(
  database: MemoryDatabase,
): readonly { readonly thread: ThreadRef; readonly attachment: Attachment }[] {
  return [...(stores.get(database)?.threads.values() ?? [])].flatMap(({ thread, held }) =>
    [...held.values()].map((one) => ({ thread, attachment: toAttachment(one) })),
  );
}

export function createMemoryAttachmentStore(database: MemoryDatabase): AttachmentStore {
  const { threads, uploads } = stores.get(database) ?? { threads: new Map(), uploads: new Set() };
  stores.set(database, { threads, uploads });
  const heldOf = (thread: ThreadRef) => threads.get(threadKey(thread))?.held;

  function hold(thread: ThreadRef): Map<string, Held> {
    admitInMemory(database, thread);
    const held = heldOf(thread) ?? new Map<string, Held>();
    threads.set(threadKey(thread), { thread, held });
    return held;
  }

  /** Stored and reserved, of every thread that counts. */
  function usedBy(counts: (thread: ThreadRef) => boolean): number {
    const reserved = [...uploads].filter(({ thread }) => counts(thread));
    const stored = [...threads.values()]
      .filter(({ thread }) => counts(thread))
      .flatMap(({ held }) => [...held.values()]);
    return [...reserved, ...stored].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  function capFor(thread: ThreadRef, bytes: number, caps: StorageCaps): keyof StorageCaps | undefined {
    const key = threadKey(thread);
    const ofAccount = usedBy(({ account }) => account === thread.account);
    if (ofAccount + bytes > caps.maxAttachmentBytesPerAccount) return "maxAttachmentBytesPerAccount";
    const ofThread = usedBy((other) => threadKey(other) === key);
    return ofThread + bytes > caps.maxAttachmentBytesPerThread ? "maxAttachmentBytesPerThread" : undefined;
  }

  function openUpload(thread: ThreadRef, caps: StorageCaps): Upload {
    const upload: UploadUnderWay = { thread, bytes: 0, touchedAt: database.clock.now() };
    const chunks: Uint8Array[] = [];
    let written = 0;
    uploads.add(upload);
    function requireOpen(): void {
      if (!uploads.has(upload)) throw new ThroughlineError("conflict", "The upload was ended.");
      upload.touchedAt = database.clock.now();
    }
    return {
      async reserve(bytes) {
        admitInMemory(database, thread);
        const cap = capFor(thread, bytes, caps);
        if (cap === undefined) upload.bytes += bytes;
        return cap;
      },
      async write(chunk) {
        requireOpen();
        chunks.push(Uint8Array.from(chunk));
        written += chunk.byteLength;
      },
      async finish({ id, mimeType, filename, isNamed }) {
        requireOpen();
        const held = hold(thread);
        uploads.delete(upload);
        const there = held.get(id);
        if (there) return toAttachment(there);
        const createdAt = database.clock.now();
        const made: Held = { id, mimeType, filename, bytes: written, createdAt, chunks, isNamed };
        held.set(id, made);
        return toAttachment(made);
      },
      async abandon() {
        uploads.delete(upload);
      },
    };
  }

  /** Returns the number of attachments. */
  function deleteWhere(isDeleted: (thread: ThreadRef) => boolean): number {
    let count = 0;
    for (const upload of uploads) if (isDeleted(upload.thread)) uploads.delete(upload);
    for (const [key, { thread, held }] of threads) {
      if (!isDeleted(thread)) continue;
      threads.delete(key);
      count += held.size;
    }
    return count;
  }

  // A deletion leaves nothing here, and the rest of a refused start lasts no longer than the process.
  function sweepable({ unnamedMs, stalledMs }: FileSweep) {
    const now = database.clock.now();
    return {
      stalled: [...uploads].filter(({ touchedAt }) => now - touchedAt > stalledMs),
      unnamed: [...threads.values()].flatMap(({ held }) =>
        [...held].flatMap(([id, { isNamed, createdAt }]) =>
          isNamed || now - createdAt <= unnamedMs ? [] : [{ held, id }],
        ),
      ),
    };
  }

  return {
    begin: async (thread, caps) => openUpload(thread, caps),
    async find(thread, id) {
      const found = heldOf(thread)?.get(id);
      return found && toAttachment(found);
    },
    async name(thread, id) {
      const found = heldOf(thread)?.get(id);
      if (found) found.isNamed = true;
      return found && toAttachment(found);
    },
    async open(thread, id) {
      const found = heldOf(thread)?.get(id);
      if (!found) return undefined;
      return {
        attachment: toAttachment(found),
        read: (range = wholeFile(found.bytes)) => partsOf(found.chunks, range),
      };
    },
    async heldBytes(thread) {
      return [...(heldOf(thread)?.values() ?? [])].reduce((sum, { bytes }) => sum + bytes, 0);
    },
    async copyThread(from, to, caps) {
      for (const [id, one] of heldOf(from) ?? []) {
        const copies = hold(to);
        if (copies.has(id)) continue;
        const cap = capFor(to, one.bytes, caps);
        if (cap !== undefined) return cap;
        copies.set(id, { ...one });
      }
      return undefined;
    },
    async deleteThread(thread) {
      const key = threadKey(thread);
      return deleteWhere((other) => threadKey(other) === key);
    },
    deleteAccount: async (account, subject) =>
      deleteWhere(
        (thread) => thread.account === account && (subject === undefined || subjectKey(thread) === subject),
      ),
    async sweep(sweep) {
      const { stalled, unnamed } = sweepable(sweep);
      for (const upload of stalled) uploads.delete(upload);
      for (const { held, id } of unnamed) held.delete(id);
      return { ...NO_FILES_SWEPT, unnamed: unnamed.length, unfinished: stalled.length };
    },
    async countSweepable(sweep) {
      const { stalled, unnamed } = sweepable(sweep);
      return { ...NO_FILES_SWEPT, unnamed: unnamed.length, unfinished: stalled.length };
    },
  };
}

async function* partsOf(
  chunks: readonly Uint8Array[],
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let part = Math.floor(start / CHUNK_BYTES); part * CHUNK_BYTES < end; part += 1) {
    const offset = part * CHUNK_BYTES;
    yield (chunks[part] ?? new Uint8Array()).subarray(Math.max(0, start - offset), end - offset);
  }
}

function toAttachment({ chunks: _, isNamed: __, ...attachment }: Held): Attachment {
  return attachment;
}
