import type { Caller } from "../context/run-context.js";

/** Whose thread an attachment belongs to. */
export interface AttachmentOwner {
  readonly caller: Pick<Caller, "billingAccountId" | "subject">;
  readonly threadId: string;
}

/** A file in a message that a graph made: named by its content, so that the name is known before it is stored. */
export interface FoundFile {
  readonly id: string;
  readonly mimeType: string;
  readonly filename: string | undefined;
  readonly bytes: number;
  /** Its bytes, in chunks that are decoded as they are asked for. */
  content(): Iterable<Uint8Array>;
}

/** Why a file is not stored, in words that a person may read; `undefined` when it is. */
export type NotKept = string | undefined;

/** Gives a graph the bytes behind the addresses in its messages, and keeps those that it makes. */
export interface AttachmentPort {
  /** `undefined` when the thread has no such attachment, or no longer; `too_large` when the run holds too much already. */
  readAttachment(owner: AttachmentOwner, id: string): Promise<Uint8Array | "too_large" | undefined>;
  /** Makes a file an attachment of the thread; one that it has is not stored again. */
  keepFile(owner: AttachmentOwner, file: FoundFile): Promise<NotKept>;
}
