import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadAddress } from "../thread/thread-address.js";
import { untilElapsed } from "../timing/until-elapsed.js";
import type { Deletion, NewDeletion } from "./deletion.js";
import { type DeletionRunnerOptions, startDeletionRunner } from "./deletion-runner.js";

export interface DeletionService {
  /**
   * Recorded when it resolves: from then on nothing new begins in the thread until it is deleted. Throws `rate_limited` when
   * the account asks too often.
   */
  deleteThread(thread: ThreadAddress, askedBy: string): Promise<Deletion>;
  /** Everything of an account, or of one subject of it. Throws `rate_limited`, too. */
  deleteAccount(account: string, subject: string | undefined, askedBy: string): Promise<Deletion>;
  find(id: string): Promise<Deletion | undefined>;
  /** Resolves when everything is gone, or when this much time has passed: the deletion goes on then all the same. */
  untilDeleted(deletion: Deletion, patienceMs: number): Promise<Deletion>;
  close(): Promise<void>;
}

export interface DeletionServiceOptions extends Omit<DeletionRunnerOptions, "onMoved"> {
  /** Throws `rate_limited` when the account has asked for too many deletions of late. */
  readonly admit: (account: string) => void;
}

/** For deletions that another instance works on; this instance's own are told at once. */
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

  /** Told from the moment of the call, so that nothing is missed between a reading and the wait after it. */
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
