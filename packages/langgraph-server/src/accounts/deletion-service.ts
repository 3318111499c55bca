import { type Clock, ThroughlineError, type Timer } from "@throughline/ai-core";
import type { ServiceObserver } from "../operations/observer.js";
import { type Poller, poll, untilElapsed } from "../operations/poller.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { ClaimLost, type DeletionStores, deleteScope } from "./delete-scope.js";
import type { ClaimedDeletion, Deletion, DeletionStore, NewDeletion } from "./deletion.js";

export interface DeletionService {
  /**
   * Recorded when it resolves: from then on nothing new begins in the thread until it is deleted. Throws `rate_limited` when
   * the account deletes too often.
   */
  deleteThread(thread: ThreadAddress, askedBy: string): Promise<Deletion>;
  /** Everything of an account, or of one subject of it. Throws `rate_limited`, too. */
  deleteAccount(account: string, subject: string | undefined, askedBy: string): Promise<Deletion>;
  find(id: string): Promise<Deletion | undefined>;
  /** Resolves when everything is gone, or when this much time has passed: the deletion continues all the same. */
  untilDeleted(deletion: Deletion, patienceMs: number): Promise<Deletion>;
  close(): Promise<void>;
}

export interface DeletionServiceOptions extends Omit<DeletionRunnerOptions, "onMoved"> {
  /** Throws `rate_limited` when the account has requested too many deletions recently. */
  readonly admit: (account: string) => void;
}

/** Poll interval for deletions that another instance works on; this instance's own are notified at once. */
const POLL_MS = 1_000;

export function createDeletionService(options: DeletionServiceOptions): DeletionService {
  const { store, clock, admit } = options;
  const waiting = new Map<string, Set<() => void>>();
  const runner = startDeletionRunner({
    ...options,
    onMoved(id) {
      for (const wake of waiting.get(id) ?? []) wake();
    },
  });

  async function begin(request: NewDeletion): Promise<Deletion> {
    admit(request.scope.account);
    const begun = await store.begin(request);
    void runner.now();
    return begun;
  }

  /** Listens from the moment of the call, so that nothing is missed between a read and the wait after it. */
  function listen(id: string): { untilMoved(patienceMs: number): Promise<void>; close(): void } {
    const wakes = waiting.get(id) ?? new Set();
    waiting.set(id, wakes);
    let wake = () => {};
    const moved = new Promise<void>((resolve) => {
      wake = resolve;
    });
    wakes.add(wake);
    return {
      async untilMoved(patienceMs) {
        const elapsed = untilElapsed(clock, patienceMs);
        await Promise.race([moved, elapsed]);
        elapsed.cancel();
      },
      close() {
        wakes.delete(wake);
        if (wakes.size === 0 && waiting.get(id) === wakes) waiting.delete(id);
      },
    };
  }

  return {
    async deleteThread({ ref, graphId }, askedBy) {
      const { account, subject = "", threadId } = ref;
      return begin({ scope: { account, subject, threadId }, graphId, askedBy });
    },
    async deleteAccount(account, subject, askedBy) {
      return begin({ scope: { account, subject }, askedBy });
    },
    find: (id) => store.find(id),
    async untilDeleted({ id }, patienceMs) {
      const deadline = clock.now() + patienceMs;
      for (;;) {
        const listener = listen(id);
        try {
          const found = await store.find(id);
          if (!found) throw new ThroughlineError("not_found", "There is no such deletion.");
          const left = deadline - clock.now();
          if (found.phase !== "deleting" || left <= 0) return found;
          await listener.untilMoved(Math.min(POLL_MS, left));
        } finally {
          listener.close();
        }
      }
    },
    close: () => runner.close(),
  };
}

interface DeletionRunnerOptions extends DeletionStores {
  readonly store: DeletionStore;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long work that another instance left may go unnoticed. */
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
  /** A deletion has come through a phase on this instance. */
  readonly onMoved?: (id: string) => void;
}

/** A poll is over when what was due is being worked on. Closing leaves what is under way to others, or to a later start. */
export type DeletionRunner = Poller;

const AT_ONCE = 8;
/**
 * Concurrent deletions of one account: the rest is reserved for others, however much one account deletes and however slow it is.
 */
const AT_ONCE_OF_ACCOUNT = 2;
const MAX_WAIT_MS = 60_000;

class Closing extends Error {}

/** Works on deletions that are due, this instance's and those a dead instance left, in turn between accounts. */
function startDeletionRunner(options: DeletionRunnerOptions): DeletionRunner {
  const { store, clock, leaseMs, observer } = options;
  const working = new Map<Promise<void>, string>();

  /** Accounts that have all the workers they may have. */
  function served(): readonly string[] {
    const counts = new Map<string, number>();
    for (const account of working.values()) counts.set(account, (counts.get(account) ?? 0) + 1);
    return [...counts].flatMap(([account, count]) => (count >= AT_ONCE_OF_ACCOUNT ? [account] : []));
  }

  async function work(claimed: ClaimedDeletion, closing: AbortSignal): Promise<void> {
    const stopRenewing = keepRenewing(claimed);
    function goOn(): void {
      if (closing.aborted) throw new Closing("This instance is shutting down.");
    }
    try {
      await deleteScope({ ...options, goOn }, claimed);
      options.onMoved?.(claimed.deletion.id);
    } catch (error) {
      if (error instanceof ClaimLost) return;
      const isClosing = error instanceof Closing;
      if (!isClosing) observer.failed("A deletion could not be finished; it is tried again.", error);
      const wait = isClosing ? 0 : Math.min(1_000 * 2 ** Math.min(claimed.attempt, 10), MAX_WAIT_MS);
      // If this can't be written, the deletion is due again when its lease is over.
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
      const claimed = await store.claim(leaseMs, served());
      if (!claimed) return;
      const job = work(claimed, closing).finally(() => {
        working.delete(job);
        void poller.now();
      });
      working.set(job, claimed.deletion.account);
    }
  }

  const poller = poll({
    ...options,
    async once(closing) {
      await claimAll(closing);
      return working.size < AT_ONCE ? store.untilDue(served()) : undefined;
    },
    failed: (error) => observer.failed("Deletions that are due could not be looked for.", error),
  });
  return {
    now: poller.now,
    async close() {
      await poller.close();
      await Promise.all(working.keys());
    },
  };
}
