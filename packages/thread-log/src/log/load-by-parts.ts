import type { LoadRequest, LogStore, StoredThread } from "../port/log-store.js";
import type { ThreadRef } from "../port/thread-ref.js";

/** For a store that can't load a thread in one call: its snapshot, then the entries after it. */
export async function loadByParts(
  store: Pick<LogStore, "read" | "snapshot">,
  thread: ThreadRef,
  { foldVersions, returnsTo, shortlyBefore, limit }: LoadRequest,
): Promise<StoredThread | undefined> {
  const newest = await store.snapshot(thread, foldVersions);
  const behind = (newest?.position.seq ?? 0) - (returnsTo ?? Number.POSITIVE_INFINITY);
  const earlier =
    returnsTo !== undefined && behind >= 0 && behind <= shortlyBefore
      ? await store.snapshot(thread, foldVersions, returnsTo - 1)
      : undefined;
  const snapshot = earlier ?? newest;
  const { epoch, seq } = snapshot?.position ?? { epoch: undefined, seq: 0 };
  const [range] = await store.read([{ thread, epoch, afterSeq: seq }], limit);
  // The thread was deleted, or its epoch renewed, between the two calls.
  if (range && snapshot && range.epoch !== epoch) {
    const [anew] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], limit);
    return anew && { ...anew, snapshot: undefined };
  }
  return range && { ...range, snapshot };
}
