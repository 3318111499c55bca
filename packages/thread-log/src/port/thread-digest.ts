import { hash } from "node:crypto";
import { type ThreadRef, threadKey } from "./thread-ref.js";

export const DIGEST_BYTES = 16;

/**
 * Stands for a thread where its entries travel: sixteen bytes of a cryptographic hash, one character each. Unlike a wake tag
 * it must not collide, because what it names is shown and not merely read again.
 */
export function threadDigest(thread: ThreadRef): string {
  return hash("sha256", threadKey(thread), "binary").slice(0, DIGEST_BYTES);
}
