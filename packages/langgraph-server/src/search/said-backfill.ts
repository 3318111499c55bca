import type { Clock, GraphStatePort } from "@throughline/ai-core";
import type { ServiceObserver } from "../thread/service-observer.js";
import { poll } from "../timing/poll.js";
import type { MessageIndex, SaidChange } from "./message-index.js";
import type { OldThread, SaidBackfillStore } from "./said-backfill-store.js";
import { toFindable } from "./said-writer.js";

export interface SaidBackfillOptions {
  readonly store: SaidBackfillStore;
  readonly state: Pick<GraphStatePort, "getState">;
  readonly index: Pick<MessageIndex, "put">;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
  /** Threads at a time. */
  readonly batch?: number;
  /** Between two batches. */
  readonly pauseMs?: number;
}

const BATCH = 20;
const PAUSE_MS = 250;
const RETRY_MS = 60_000;

/**
 * Indexes what was said before messages were indexed, some threads at a time with pauses between, by the checkpoints of the
 * threads. A thread that can't be read is passed over. Ends by itself.
 */
export function startSaidBackfill(options: SaidBackfillOptions): { close(): Promise<void> } {
  const { store, index, clock, random, observer, batch = BATCH, pauseMs = PAUSE_MS } = options;
  const poller = poll({
    clock,
    random,
    everyMs: RETRY_MS,
    firstAfterMs: pauseMs * random(),
    async once() {
      const threads = await store.next(batch);
      if (!threads) return undefined;
      await index.put((await Promise.all(threads.map(readThread))).flat());
      await store.finish(threads.at(-1)?.thread);
      if (threads.length > 0) return pauseMs;
      // Not waited for: it waits for this poll.
      void poller.close();
      return undefined;
    },
    failed: (error) =>
      observer.failed("What was said earlier could not be indexed; it is tried again.", error),
  });

  async function readThread({ thread, graphId, lastActivityAt }: OldThread): Promise<readonly SaidChange[]> {
    try {
      const checkpoint = await options.state.getState({ graphId, threadId: thread.threadId });
      const said = checkpoint?.messages?.flatMap(toFindable) ?? [];
      return [{ thread, said, gone: [], saidAt: lastActivityAt }];
    } catch (error) {
      observer.failed("What was said in a thread can't be searched for.", error);
      return [];
    }
  }

  return poller;
}
