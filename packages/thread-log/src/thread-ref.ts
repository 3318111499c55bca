import { hash } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";

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
  /** The shared ones in addition to that person's. For lists by the directory only. */
  readonly withShared?: boolean;
  readonly everySubject?: boolean;
}

/** Storage key of a subject. A missing one is stored as the empty string, which no real subject is. */
export function subjectKey(scope: { readonly subject?: string | undefined }): string {
  return scope.subject ?? "";
}

/** Injective: neither account nor subject may hold a control character. */
export function threadKey(thread: ThreadRef): string {
  return `${thread.account}\u0000${subjectKey(thread)}\u0000${thread.threadId}`;
}

export const DIGEST_BYTES = 16;

/**
 * Identifies a thread on the entry bus: sixteen bytes of a cryptographic hash, one character each. Unlike a wake tag it must
 * not collide, because the entries it names are shown and not merely read again.
 */
export function threadDigest(thread: ThreadRef): string {
  return hash("sha256", threadKey(thread), "binary").slice(0, DIGEST_BYTES);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PRIME = 0x01000193;

/**
 * Identifies a thread in a wake-up, in eight characters: two rounds of FNV-1a, because it is made for every thread of every
 * commit and a digest would cost more than the entry's encoding. A wake-up is only a hint: two threads that share a tag cost
 * a read in vain. A thousand of them fit into PostgreSQL's 8,000 bytes, and no account's name is in the channel.
 */
export function threadTag(thread: ThreadRef): string {
  const key = threadKey(thread);
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    low = Math.imul(low ^ code, PRIME);
    high = Math.imul(high ^ code ^ (low >>> 15), PRIME);
  }
  return letters(low) + letters(high);
}

function letters(hash: number): string {
  let text = "";
  for (let shift = 0; shift < 24; shift += 6) text += ALPHABET[((hash >>> shift) ^ (hash >>> 24)) & 63];
  return text;
}

/** The scope in which something is about to be created: a thread, or a subject outside of its threads. */
export interface LogScope {
  readonly account: string;
  readonly subject?: string | undefined;
  readonly threadId?: string | undefined;
}

/** A scope that is being deleted: an account, one subject of it, or one thread. */
export interface DeletedScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject?: string | undefined;
  /** `undefined` is every thread, and data outside of threads. */
  readonly threadId?: string | undefined;
}

/** Whether a scope is being deleted: nothing that the deletion would have to find may be created in it meanwhile. */
export function isCovered(scope: LogScope, by: DeletedScope): boolean {
  return (
    by.account === scope.account &&
    (by.subject === undefined || by.subject === subjectKey(scope)) &&
    (by.threadId === undefined || by.threadId === scope.threadId)
  );
}

const DELETING = "deleting";

export function beingDeleted(): ThroughlineError {
  return new ThroughlineError("conflict", "This is being deleted. Try again in a moment.", {
    details: { reason: DELETING, retryAfterMs: 1_000 },
  });
}

export function isBeingDeleted(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "conflict" && error.details.reason === DELETING;
}
