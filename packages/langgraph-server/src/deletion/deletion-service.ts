import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadAddress } from "../thread/thread-address.js";
import { untilElapsed } from "../timing/until-elapsed.js";
import type { Deletion } from "./deletion.js";
import { type DeletionRunnerOptions, startDeletionRunner } from "./deletion-runner.js";

export interface DeletionService {
  /** Recorded when it resolves: from then on nothing new begins in the thread until it is erased. */
  deleteThread(thread: ThreadAddress, askedBy: string): Promise<Deletion>;
  /** Everything of an account, or of one subject of it. */
  deleteAccount(account: string, subject: string | undefined, askedBy: string): Promise<Deletion>;
  find(id: string): Promise<Deletion | undefined>;
  /** Resolves when everything is gone, or when this much time has passed: it goes on then all the same. */
  untilErased(deletion: Deletion, patienceMs: number): Promise<Deletion>;
  close(): Promise<void>;
}

const LOOK_AGAIN_MS = 20;

export function createDeletionService(options: DeletionRunnerOptions): DeletionService {
  const { store, clock } = options;
  const runner = startDeletionRunner(options);

  return {
    async deleteThread({ ref, graphId }, askedBy) {
      const { account, subject = "", threadId } = ref;
      const begun = await store.begin({ scope: { account, subject, threadId }, graphId, askedBy });
      void runner.now();
      return begun;
    },
    async deleteAccount(account, subject, askedBy) {
      const begun = await store.begin({ scope: { account, subject }, askedBy });
      void runner.now();
      return begun;
    },
    find: (id) => store.find(id),
    async untilErased(deletion, patienceMs) {
      const deadline = clock.now() + patienceMs;
      for (;;) {
        const found = await store.find(deletion.id);
        if (!found) throw new ThroughlineError("not_found", "There is no such deletion.");
        if (found.phase !== "erasing" || clock.now() >= deadline) return found;
        await untilElapsed(clock, LOOK_AGAIN_MS);
      }
    },
    close: () => runner.close(),
  };
}
