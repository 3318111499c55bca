import type { Clock } from "@throughline/ai-core";
import type { ServiceObserver } from "../thread/service-observer.js";
import { poll } from "../timing/poll.js";
import { type AttachmentStore, type FileSweep, NO_FILES_SWEPT, type SweptFiles } from "./attachment-store.js";

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
      await sweepFiles(store, unnamedMs, { closing, onSwept: observer.filesSwept });
      return undefined;
    },
    failed: (error) => observer.failed("Files of no message could not be swept; it is tried again.", error),
  });
  return { sweep: now, close };
}

/** What a round sweeps. */
export function fileSweepOf(unnamedMs: number): FileSweep {
  return { unnamedMs, stalledMs: STALLED_MS, orphanedMs: unnamedMs };
}

/** One round, to its end. Gives what was deleted in all. */
export async function sweepFiles(
  store: Pick<AttachmentStore, "sweep">,
  unnamedMs: number,
  { closing, onSwept }: { readonly closing: AbortSignal; readonly onSwept?: (part: SweptFiles) => void },
): Promise<SweptFiles> {
  let all = NO_FILES_SWEPT;
  let found = 0;
  do {
    const part = await store.sweep(fileSweepOf(unnamedMs));
    found = part.unnamed + part.unfinished + part.orphaned + part.stray;
    onSwept?.(part);
    all = {
      unnamed: all.unnamed + part.unnamed,
      unfinished: all.unfinished + part.unfinished,
      orphaned: all.orphaned + part.orphaned,
      stray: all.stray + part.stray,
    };
  } while (found > 0 && !closing.aborted);
  return all;
}
