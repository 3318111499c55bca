import { subjectKey, type ThreadRef, threadKey } from "../port/thread-ref.js";
import { wakeTag } from "../port/wake-tag.js";

export interface ThreadNames {
  readonly key: string;
  readonly tag: string;
  /** Of the line and of the stream. The braces keep both on one node of a cluster. */
  readonly redis: readonly [line: string, log: string];
}

const known = new WeakMap<ThreadRef, ThreadNames>();

/** Made once per reference: a driver appends thousands of times under the same one, and hashing it cost more than the rest. */
export function namesOf(thread: ThreadRef): ThreadNames {
  const found = known.get(thread);
  if (found) return found;
  const scope = [thread.account, subjectKey(thread), thread.threadId].map(encodeURIComponent).join("/");
  const redis = [`throughline:{${scope}}:thread`, `throughline:{${scope}}:log`] as const;
  const names = { key: threadKey(thread), tag: wakeTag(thread), redis };
  known.set(thread, names);
  return names;
}
