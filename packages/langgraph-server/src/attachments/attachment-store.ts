import type { ThreadRef } from "@throughline/thread-log";

export interface Attachment {
  /** Of type and content, so the same file is one attachment of its thread however often it is sent. */
  readonly id: string;
  readonly mimeType: string;
  /** The name it first came under. */
  readonly filename: string | undefined;
  readonly bytes: number;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
}

export interface NewAttachment {
  readonly id: string;
  readonly mimeType: string;
  readonly filename: string | undefined;
  readonly content: Uint8Array;
}

/** Files that came with messages. Every key begins with account and subject, as that of their thread does. */
export interface AttachmentStore {
  /** What is there already stays as it is. Throws `conflict` while the thread is being deleted. */
  put(thread: ThreadRef, attachment: NewAttachment): Promise<Attachment>;
  find(thread: ThreadRef, id: string): Promise<Attachment | undefined>;
  read(thread: ThreadRef, id: string): Promise<Uint8Array | undefined>;
  /** Bytes of all attachments of the thread. */
  heldBytes(thread: ThreadRef): Promise<number>;
  /** Gives `to` all that `from` has: each is then deleted with its own thread. */
  copyThread(from: ThreadRef, to: ThreadRef): Promise<void>;
  /** Gives how many there were. */
  deleteThread(thread: ThreadRef): Promise<number>;
  deleteAccount(account: string, subject?: string): Promise<number>;
}
