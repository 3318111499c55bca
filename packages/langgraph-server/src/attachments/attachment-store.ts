import type { ThreadRef } from "@throughline/thread-log";
import type { ByteRange } from "./byte-range.js";

export interface Attachment {
  /** A hash of type and content, so the same file is one attachment of its thread however often it is sent. */
  readonly id: string;
  readonly mimeType: string;
  /** The name it first came under. */
  readonly filename: string | undefined;
  readonly bytes: number;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
}

/** Bytes of a file that are written, read and held at once. Stored files are laid out by it: it never changes. */
export const CHUNK_BYTES = 262_144;

/** Caps on the total size of stored files. */
export interface StorageCaps {
  readonly maxAttachmentBytesPerThread: number;
  readonly maxAttachmentBytesPerAccount: number;
}

export interface FinishedFile {
  readonly id: string;
  readonly mimeType: string;
  readonly filename: string | undefined;
  /** A message names it already; what no message names is deleted after a while. */
  readonly isNamed: boolean;
}

/** A file on its way into the store. Nothing of it can be found before `finish`. */
export interface Upload {
  /**
   * Reserves this many more bytes, of the thread and of its account. Exact over all instances: returns the cap that is in the
   * way, and then nothing was reserved.
   */
  reserve(bytes: number): Promise<keyof StorageCaps | undefined>;
  /** The next `CHUNK_BYTES`, or the last of the file. Within what was reserved. Once it resolves, the chunk may be overwritten. */
  write(chunk: Uint8Array): Promise<void>;
  /** Makes it an attachment of the thread. What is there under this id stays as it is. */
  finish(file: FinishedFile): Promise<Attachment>;
  /** Deletes the written chunks and releases the reserved bytes. */
  abandon(): Promise<void>;
}

/** A stored file. */
export interface OpenedFile {
  readonly attachment: Attachment;
  /** Reads in chunks on demand. Throws when the file is deleted meanwhile. */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
}

export interface FileSweep {
  /** Maximum age of an attachment that no message references. */
  readonly unnamedMs: number;
  /** Maximum time since the last chunk of an upload. */
  readonly stalledMs: number;
  /** Maximum age of an attachment whose thread was deleted or never began. */
  readonly orphanedMs: number;
}

/** Counts of files that a sweep deleted, or would delete. */
export interface SweptFiles {
  readonly unnamed: number;
  readonly unfinished: number;
  /** Files of threads that were deleted or never began. */
  readonly orphaned: number;
  /** Contents that no attachment has. */
  readonly stray: number;
}

/** Files that came with messages. Every key begins with account and subject, as that of their thread does. */
export interface AttachmentStore {
  /** `begin`, `reserve` and `finish` throw `conflict` while the thread is being deleted. */
  begin(thread: ThreadRef, caps: StorageCaps): Promise<Upload>;
  find(thread: ThreadRef, id: string): Promise<Attachment | undefined>;
  /** Finds it for a message that names it: from then on it stays as long as its thread. */
  name(thread: ThreadRef, id: string): Promise<Attachment | undefined>;
  open(thread: ThreadRef, id: string): Promise<OpenedFile | undefined>;
  /** Bytes of all attachments of the thread. */
  heldBytes(thread: ThreadRef): Promise<number>;
  /** Gives `to` all that `from` has: each is then deleted with its own thread. Gives the cap that is in the way. */
  copyThread(from: ThreadRef, to: ThreadRef, caps: StorageCaps): Promise<keyof StorageCaps | undefined>;
  /** Gives how many there were. */
  deleteThread(thread: ThreadRef): Promise<number>;
  deleteAccount(account: string, subject?: string): Promise<number>;
  /** Deletes what belongs to no message; a bounded part of it, so call it until it finds nothing. */
  sweep(sweep: FileSweep): Promise<SweptFiles>;
  /** Counts the files that sweeps would delete until they find nothing. */
  countSweepable(sweep: FileSweep): Promise<SweptFiles>;
}

export const NO_FILES_SWEPT: SweptFiles = { unnamed: 0, unfinished: 0, orphaned: 0, stray: 0 };
