import {
  type AttachmentOwner,
  type AttachmentPort,
  type Clock,
  retryStore,
  ThroughlineError,
} from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import type { AttachmentLimits } from "./attachment-limits.js";
import type { AttachmentStore, OpenedFile } from "./attachment-store.js";
import type { FileKeeper } from "./file-keeper.js";

/** Gives graphs the bytes of their files, bounds what all of them hold together, and keeps the files they make. */
export interface RunFiles extends AttachmentPort {
  /** The thread's run is over: what it held is given back. */
  release(threadId: string): void;
}

export interface RunFilesDeps {
  readonly store: Pick<AttachmentStore, "open" | "heldBytes">;
  readonly limits: Pick<AttachmentLimits, "maxAttachmentBytesPerRun" | "maxAttachmentBytesInRuns">;
  readonly keeper: Pick<FileKeeper, "keep">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long a run waits for others to end before it fails. Default one minute. */
  readonly patienceMs?: number;
}

/** What one run may hold, claimed before it holds anything: runs that each held a part and wanted more would wait for ever. */
interface Share {
  readonly bytes: number;
  /** Sizes by id: a file that is read again counts once. */
  readonly held: Map<string, number>;
}

interface Waiting {
  readonly bytes: number;
  admit(): void;
}

const PATIENCE_MS = 60_000;

/** A thread has one run at a time, so its id names what the run holds. */
export function createRunFiles(deps: RunFilesDeps): RunFiles {
  const { store, limits, clock, signal, patienceMs = PATIENCE_MS } = deps;
  const { maxAttachmentBytesPerRun: perRun, maxAttachmentBytesInRuns: inRuns } = limits;
  const shares = new Map<string, Promise<Share>>();
  const waiting = new Set<Waiting>();
  let claimed = 0;
  const retry = <Result>(work: () => Promise<Result>) => retryStore({ clock, signal }, work);

  // Where one share is more than all may have, it is given alone.
  const hasRoom = (bytes: number) => claimed === 0 || claimed + bytes <= inRuns;

  async function claim(thread: ThreadRef): Promise<Share> {
    const bytes = Math.min(perRun, await retry(() => store.heldBytes(thread)));
    if (waiting.size === 0 && hasRoom(bytes)) claimed += bytes;
    else await untilAdmitted(bytes);
    return { bytes, held: new Map() };
  }

  function untilAdmitted(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked: Waiting = {
        bytes,
        admit() {
          waiting.delete(asked);
          timer.cancel();
          claimed += bytes;
          resolve();
        },
      };
      const timer = clock.schedule(patienceMs, () => {
        waiting.delete(asked);
        reject(busy(inRuns));
      });
      waiting.add(asked);
    });
  }

  function shareOf(thread: ThreadRef): Promise<Share> {
    const known = shares.get(thread.threadId) ?? claim(thread);
    shares.set(thread.threadId, known);
    return known;
  }

  return {
    async readAttachment(owner, id) {
      const thread = threadOf(owner);
      const share = await shareOf(thread);
      return retry(async () => {
        const opened = await store.open(thread, id);
        if (!opened) return undefined;
        const { bytes } = opened.attachment;
        const others = [...share.held].reduce((sum, [other, size]) => (other === id ? sum : sum + size), 0);
        if (others + bytes > perRun) return "too_large";
        share.held.set(id, bytes);
        return bytesOf(opened);
      });
    },
    keepFile: (owner, file) => deps.keeper.keep(threadOf(owner), file),
    release(threadId) {
      const share = shares.get(threadId);
      shares.delete(threadId);
      share?.then(
        ({ bytes }) => {
          claimed -= bytes;
          // In order: a large share that waits must not be passed by small ones for ever.
          for (const next of waiting) {
            if (!hasRoom(next.bytes)) return;
            next.admit();
          }
        },
        () => {},
      );
    },
  };
}

async function bytesOf({ attachment: { bytes }, read }: OpenedFile): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for await (const chunk of read()) {
    content.set(chunk, filled);
    filled += chunk.byteLength;
  }
  return content.subarray(0, filled);
}

function threadOf({ caller: { billingAccountId: account, subject }, threadId }: AttachmentOwner): ThreadRef {
  return { account, ...(subject !== undefined && { subject }), threadId };
}

function busy(max: number): ThroughlineError {
  return new ThroughlineError(
    "rate_limited",
    `maxAttachmentBytesInRuns: the runs of this instance hold ${max} bytes of files already. Start the run again later.`,
    { details: { limit: "maxAttachmentBytesInRuns", max } },
  );
}
