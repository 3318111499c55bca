import type { Clock, Timer } from "@throughline/ai-core";
import type { ServiceObserver } from "../drive/service-observer.js";
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

export interface DeletionRunner {
  /** Looks for what is due now; resolves when it is being worked on. */
  look(): Promise<void>;
  /** Leaves what is under way to others, or to a later start. */
  close(): Promise<void>;
}

const AT_ONCE = 4;
const JITTER = 0.25;
const MAX_WAIT_MS = 60_000;

class Closing extends Error {}

/** Works on deletions that are due, its own and those a dead instance left. */
export function startDeletionRunner(options: DeletionRunnerOptions): DeletionRunner {
  const { store, clock, leaseMs, everyMs, random, observer } = options;
  const working = new Set<Promise<void>>();
  let closed = false;
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  let askedAgain = false;

  function goOn(): void {
    if (closed) throw new Closing("This instance is shutting down.");
  }

  async function work(claimed: ClaimedDeletion): Promise<void> {
    const stopRenewing = keepRenewing(claimed);
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

  async function claimAll(): Promise<void> {
    while (!closed && working.size < AT_ONCE) {
      const claimed = await store.claim(leaseMs);
      if (!claimed) return;
      const job = work(claimed).finally(() => {
        working.delete(job);
        void look();
      });
      working.add(job);
    }
  }

  async function lookOnce(): Promise<void> {
    timer?.cancel();
    let wait = everyMs * (1 - JITTER + 2 * JITTER * random());
    try {
      do {
        askedAgain = false;
        await claimAll();
      } while (askedAgain && !closed);
      if (working.size < AT_ONCE) wait = Math.min(wait, (await store.untilDue()) ?? wait);
    } catch (error) {
      observer.failed("Deletions that are due could not be looked for.", error);
    }
    looking = undefined;
    if (!closed) timer = clock.schedule(wait, () => void look());
  }

  function look(): Promise<void> {
    if (closed) return Promise.resolve();
    // What is under way may have looked before that which is asked about was written.
    if (looking) askedAgain = true;
    looking ??= lookOnce();
    return looking;
  }

  void look();
  return {
    look,
    async close() {
      closed = true;
      timer?.cancel();
      await looking;
      await Promise.all(working);
    },
  };
}
