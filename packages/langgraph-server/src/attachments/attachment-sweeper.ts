import type { Clock } from "@throughline/ai-core";
import type { ServiceObserver } from "../thread/service-observer.js";
import { poll } from "../timing/poll.js";
import type { AttachmentStore } from "./attachment-store.js";

const HOUR_MS = 3_600_000;

/** How long a file may wait for a message that names it. */
export const DEFAULT_UNNAMED_MS = 24 * HOUR_MS;
/** Longer than any request lasts: what was not written to for so long was left by a crash. */
const STALLED_MS = HOUR_MS / 2;
const EVERY_MS = HOUR_MS;
/** Instances that live shorter than a round take part all the same. */
const FIRST_WITHIN_MS = 300_000;

export interface AttachmentSweeperOptions {
  readonly store: Pick<AttachmentStore, "sweep">;
  readonly unnamedMs: number;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "filesSwept" | "failed">;
}

export interface AttachmentSweeper {
  /** A round that begins now, or after the one that is under way. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Deletes files that belong to no message: never named, never finished, of no thread, or left over. Every instance makes its rounds. */
export function startAttachmentSweeper(options: AttachmentSweeperOptions): AttachmentSweeper {
  const { store, unnamedMs, clock, random, observer } = options;
  const { now, close } = poll({
    clock,
    random,
    everyMs: EVERY_MS,
    firstAfterMs: FIRST_WITHIN_MS * random(),
    async once(closing) {
      let found = 0;
      do {
        const swept = await store.sweep({ unnamedMs, stalledMs: STALLED_MS, orphanedMs: unnamedMs });
        found = swept.unnamed + swept.unfinished + swept.orphaned + swept.stray;
        observer.filesSwept(swept);
      } while (found > 0 && !closing.aborted);
      return undefined;
    },
    failed: (error) => observer.failed("Files of no message could not be swept; it is tried again.", error),
  });
  return { sweep: now, close };
}
