/**
 * The full key of a thread. Account and subject are part of every storage key, so a thread id that leaked is worth nothing
 * without its scope: the wrong scope finds an empty log.
 */
export interface ThreadRef {
  readonly account: string;
  /** Present for a private thread. */
  readonly subject?: string | undefined;
  /** Derived on the server (`deriveThreadId`), never taken from a client. */
  readonly threadId: string;
}

/** Which threads of one account: without a subject the shared ones, with one that person's, or all of them. */
export interface ThreadScope {
  readonly account: string;
  readonly subject?: string | undefined;
  /** The shared ones beside that person's. Of lists by the directory only. */
  readonly withShared?: boolean;
  readonly everySubject?: boolean;
}

/** Stores keep the missing subject as the empty string, which no real subject is. */
export function subjectKey(scope: { readonly subject?: string | undefined }): string {
  return scope.subject ?? "";
}

/** Injective: neither account nor subject may hold a control character. */
export function threadKey(thread: ThreadRef): string {
  return `${thread.account}\u0000${subjectKey(thread)}\u0000${thread.threadId}`;
}
