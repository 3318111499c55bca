import type { DeletionPhase, DeletionScope } from "./deletion.js";

/** Whether a deletion forbids something in an account, of a subject, in a thread or, without one, beside all threads. */
export function forbids(
  deletion: DeletionScope & { readonly phase: DeletionPhase },
  wish: {
    readonly account: string;
    readonly subject?: string | undefined;
    readonly threadId?: string | undefined;
  },
): boolean {
  const { account, subject, threadId, phase } = deletion;
  return (
    (phase === "erasing" || phase === "sweeping") &&
    account === wish.account &&
    (subject === undefined || subject === (wish.subject ?? "")) &&
    (threadId === undefined || threadId === wish.threadId)
  );
}
