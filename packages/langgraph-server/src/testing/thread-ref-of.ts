import type { ThreadRef } from "@throughline/thread-log";

/** A person's thread, or without a subject the account's. */
export function threadRefOf(account: string, threadId: string, subject?: string): ThreadRef {
  return { account, threadId, ...(subject !== undefined && { subject }) };
}
