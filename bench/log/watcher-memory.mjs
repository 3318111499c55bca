import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc");

/** Bytes of heap that a watcher costs who waits on a quiet thread, threads of their own each. */
export async function measureWatcherBytes({ log, open }, count) {
  const threads = await Promise.all(Array.from({ length: count }, (_, index) => open(`idle-${index}`)));
  const heads = await Promise.all(threads.map(({ thread }) => log.head(thread)));
  const watchers = threads.map(({ thread }, index) => log.tail(thread, heads[index])[Symbol.asyncIterator]());
  const waiting = watchers.map((watcher) => watcher.next());
  // Reads are answered in order, so once the last thread's head is known every watcher has read and waits.
  await log.head(threads.at(-1).thread);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const withThem = usedHeap();
  await Promise.all(watchers.map((watcher) => watcher.return()));
  await Promise.all(waiting);
  watchers.length = 0;
  waiting.length = 0;
  return (withThem - usedHeap()) / count;
}

function usedHeap() {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
