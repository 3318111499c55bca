import type { Clock, Timer } from "@throughline/ai-core";
import type { ServiceObserver } from "../thread/service-observer.js";
import { type Poller, poll } from "../timing/poll.js";
import type { ClaimedDeletion, DeletionStore } from "./deletion-store.js";
import { ClaimLost, type DeletionPlaces, eraseScope } from "./erase-scope.js";

export interface DeletionRunnerOptions extends DeletionPlaces {
  readonly store: DeletionStore;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long what another instance left may go unnoticed. */
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
}

/** A poll is over when what was due is being worked on. Closing leaves what is under way to others, or to a later start. */
export type DeletionRunner = Poller;

const AT_ONCE = 4;
const MAX_WAIT_MS = 60_000;

class Closing extends Error {}

/** Works on deletions that are due, its own and those a dead instance left. */
export function startDeletionRunner(options: DeletionRunnerOptions): DeletionRunner {
  const { store, clock, leaseMs, observer } = options;
  const working = new Set<Promise<void>>();

  async function work(claimed: ClaimedDeletion, closing: AbortSignal): Promise<void> {
    const stopRenewing = keepRenewing(claimed);
    function goOn(): void {
      if (closing.aborted) throw new Closing("This instance is shutting down.");
    }
    try {
      await eraseScope({ ...options, goOn }, claimed);
    } catch (error) {
      if (error instanceof ClaimLost) return;
      const isClosing = error instanceof Closing;
      if (!isClosing) observer.failed("A deletion could not be finished; it is tried again.", error);
      const wait = isClosing ? 0 : Math.min(1_000 * 2 ** Math.min(claimed.attempt, 10), MAX_WAIT_MS);
      // Where nothing can be written it is found again when its lease is over.
      await store.postpone(claimed, wait).catch(() => {});
    } finally {
      stopRenewing();
    }
  }

  /** A step may take longer than the lease: an upstream is given its time. */
  function keepRenewing(claimed: ClaimedDeletion): () => void {
    let next: Timer | undefined;
    let isOver = false;
    const again = () => {
      next = clock.schedule(leaseMs / 3, () => {
        store
          .renew(claimed, leaseMs)
          .catch(() => {})
          .finally(() => {
            if (!isOver) again();
          });
      });
    };
    again();
    return () => {
      isOver = true;
      next?.cancel();
    };
  }

  async function claimAll(closing: AbortSignal): Promise<void> {
    while (!closing.aborted && working.size < AT_ONCE) {
      const claimed = await store.claim(leaseMs);
      if (!claimed) return;
      const job = work(claimed, closing).finally(() => {
        working.delete(job);
        void poller.now();
      });
      working.add(job);
    }
  }

  const poller = poll({
    ...options,
    async once(closing) {
      await claimAll(closing);
      return working.size < AT_ONCE ? store.untilDue() : undefined;
    },
    failed: (error) => observer.failed("Deletions that are due could not be looked for.", error),
  });
  return {
    now: poller.now,
    async close() {
      await poller.close();
      await Promise.all(working);
    },
  };
}
