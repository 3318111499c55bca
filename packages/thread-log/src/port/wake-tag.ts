import { type ThreadRef, threadKey } from "./thread-ref.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PRIME = 0x01000193;

/**
 * Eight characters that stand for a thread in a wake-up: two rounds of FNV-1a, because it is made for every thread of every
 * commit and a digest would cost more than the entry's encoding. A wake-up is only a hint: two threads that share a tag cost
 * a read in vain. A thousand of them fit into PostgreSQL's 8,000 bytes, and no account's name is in the channel.
 */
export function wakeTag(thread: ThreadRef): string {
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
