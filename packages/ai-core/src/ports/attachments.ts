import type { Caller } from "../context/run-context.js";

/** Whose thread an attachment belongs to. */
export interface AttachmentOwner {
  readonly caller: Pick<Caller, "billingAccountId" | "subject">;
  readonly threadId: string;
}

/** Gives a graph the bytes behind the addresses in its messages. */
export interface AttachmentPort {
  /** `undefined` when the thread has no such attachment, or no longer; `too_large` when the run holds too much already. */
  readAttachment(owner: AttachmentOwner, id: string): Promise<Uint8Array | "too_large" | undefined>;
}
