// Started by the trials as a process of its own: appends for as long as it lives and tells what was acknowledged.
import { fenceOf, notes } from "../conformance/log-scene.js";
import type { ThreadRef } from "../thread-ref.js";
import { openTrialLog, type TrialStore } from "./trial-log.js";

export interface WriterTask {
  readonly store: TrialStore;
  readonly thread: ThreadRef;
  readonly token: number;
}

export type WriterMessage =
  | {
      readonly kind: "acked";
      readonly epoch: string;
      readonly first: number;
      readonly texts: readonly string[];
    }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly message: string };

const LARGEST_BATCH = 5;

function tell(message: WriterMessage): void {
  process.send?.(message);
}

async function writeOn({ store, thread, token }: WriterTask): Promise<void> {
  const { log, close } = await openTrialLog(store);
  const fence = fenceOf(thread, token);
  const opened = await log.open(thread, fence);
  if (!opened.ok) return tell({ kind: "refused", reason: opened.reason });
  for (let next = 0, size = 1; ; next += size, size = (size % LARGEST_BATCH) + 1) {
    const texts = Array.from({ length: size }, (_, index) => String(next + index));
    const result = await log.append(thread, notes(thread, ...texts), fence);
    if (!result.ok) {
      tell({ kind: "refused", reason: result.reason });
      return close();
    }
    tell({ kind: "acked", epoch: result.epoch, first: result.first, texts });
  }
}

process.once("message", (task: WriterTask) => {
  writeOn(task)
    .catch((error: Error) => tell({ kind: "failed", message: `${error.message} ${error.cause ?? ""}` }))
    .finally(() => process.disconnect());
});
