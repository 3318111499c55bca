import {
  type Clock,
  type EmbeddedFile,
  retryStore,
  type StorageRefusal,
  ThroughlineError,
} from "@throughline/ai-core";
import { attachmentIdHash } from "@throughline/graph-executor";
import { type ThreadRef, threadKey } from "@throughline/thread-log";
import { type Attachment, type AttachmentStore, CHUNK_BYTES } from "./attachment-store.js";
import {
  type AcceptedType,
  type AttachmentLimits,
  capRefusal,
  checkSignature,
  checkSize,
  generatedType,
} from "./media-types.js";

export interface IncomingFile {
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Its length, where that is known before it is read. */
  readonly declaredBytes: number | undefined;
  readonly type: AcceptedType;
  /** Whether it must begin as its type does: uploads are checked, files that a graph made are stored unchecked. */
  readonly isChecked: boolean;
  readonly filename: string | undefined;
  readonly isNamed: boolean;
  /** The field name in errors. */
  readonly field: string;
  /** Called before bytes are read, with how many: throws where they may not come. */
  readonly admit?: (bytes: number) => void | Promise<void>;
}

export interface FileReceiver {
  readonly store: AttachmentStore;
  readonly limits: AttachmentLimits;
}

/**
 * Takes a file from its sender into the store, a chunk at a time: the next is read when this one is stored, so a sender that is
 * faster than the store waits, and one chunk is held. What is reserved before it is read can't be exceeded by
 * files side by side. Throws `invalid_input` for an empty file or one of another type, `too_large` for what is too much of it.
 */
export async function receiveFile(
  thread: ThreadRef,
  file: IncomingFile,
  { store, limits }: FileReceiver,
): Promise<Attachment> {
  const { field, filename, isNamed, type } = file;
  if (file.declaredBytes === 0) throw empty(field);
  checkSize(file.declaredBytes ?? 0, type, limits, field);
  const hash = attachmentIdHash(type.mimeType);
  const upload = await store.begin(thread, limits);
  let reserved = 0;
  let size = 0;

  async function reserve(bytes: number): Promise<void> {
    await file.admit?.(bytes);
    const cap = await upload.reserve(bytes);
    if (cap !== undefined) throw capRefusal(cap, limits, field);
    reserved += bytes;
  }

  try {
    await reserve(file.declaredBytes ?? CHUNK_BYTES);
    for await (const chunk of inChunks(file.content)) {
      if (size === 0 && file.isChecked) checkSignature(chunk, type, field);
      size += chunk.byteLength;
      checkSize(size, type, limits, field);
      if (size > reserved) await reserve(CHUNK_BYTES);
      hash.update(chunk);
      await upload.write(chunk);
    }
    if (size === 0) throw empty(field);
    return await upload.finish({ id: hash.digest("base64url"), mimeType: type.mimeType, filename, isNamed });
  } catch (error) {
    // The sender gets the original error; what can't be cleaned up now is swept later.
    await upload.abandon().catch(() => {});
    throw error;
  }
}

function empty(field: string): ThroughlineError {
  return new ThroughlineError("invalid_input", `${field}: is empty; send the file itself`, {
    details: { field },
  });
}

/** The id of a file: a hash of type and content. */
export function attachmentId(mimeType: string, content: Uint8Array): string {
  return attachmentIdHash(mimeType).update(content).digest("base64url");
}

/** The same bytes in pieces of `CHUNK_BYTES`, all but the last. Each is overwritten by the next: a file costs one buffer. */
async function* inChunks(content: IncomingFile["content"]): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of content) {
    for (let at = 0; at < piece.byteLength; ) {
      const taken = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(taken, filled);
      at += taken.byteLength;
      filled += taken.byteLength;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

/** Stores the files that graphs make. */
export interface GeneratedFiles {
  /** The reason why a file may not be stored regardless of free capacity. Synchronous. */
  refusal(file: EmbeddedFile): StorageRefusal;
  /** Makes the file an attachment of the thread; one that it has, or that is on its way, is not stored again. */
  keep(thread: ThreadRef, file: EmbeddedFile): Promise<StorageRefusal>;
  /** Resolves when no such file is on its way into the store of this instance. */
  underWay(thread: ThreadRef, id: string): Promise<unknown>;
}

export interface FileKeeperDeps extends FileReceiver {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const FIELD = "file";

export function createFileKeeper({ store, limits, clock, signal }: FileKeeperDeps): GeneratedFiles {
  const underWay = new Map<string, Promise<StorageRefusal>>();
  const keyOf = (thread: ThreadRef, id: string) => `${threadKey(thread)}|${id}`;

  function refusal(file: EmbeddedFile): StorageRefusal {
    return refusalOf(() => checkSize(file.bytes, generatedType(file.mimeType), limits, FIELD));
  }

  async function storeFile(thread: ThreadRef, file: EmbeddedFile): Promise<StorageRefusal> {
    const { id, mimeType, filename, bytes } = file;
    const put = async () => {
      if (await store.name(thread, id)) return;
      await receiveFile(
        thread,
        {
          content: file.content(),
          declaredBytes: bytes,
          type: generatedType(mimeType),
          isChecked: false,
          filename,
          isNamed: true,
          field: FIELD,
        },
        { store, limits },
      );
    };
    try {
      await retryStore({ clock, signal }, put);
      return undefined;
    } catch (error) {
      return whyNot(error);
    }
  }

  return {
    refusal,
    keep(thread, file) {
      const key = keyOf(thread, file.id);
      const known = underWay.get(key);
      if (known) return known;
      const why = refusal(file);
      if (why !== undefined) return Promise.resolve(why);
      const keeping = storeFile(thread, file).finally(() => underWay.delete(key));
      underWay.set(key, keeping);
      return keeping;
    },
    async underWay(thread, id) {
      await underWay.get(keyOf(thread, id))?.catch(() => {});
    },
  };
}

function refusalOf(check: () => void): StorageRefusal {
  try {
    check();
    return undefined;
  } catch (error) {
    return whyNot(error);
  }
}

/** A limit's message, without the name of a field that was not sent. Throws errors that do not concern the file. */
function whyNot(error: unknown): string {
  if (error instanceof ThroughlineError && (error.code === "too_large" || error.code === "conflict")) {
    return error.message.replace(`${FIELD}: `, "");
  }
  throw error;
}
