import { type LogPosition, ThroughlineError, type Timer } from "@throughline/ai-core";
import { threadKey } from "@throughline/thread-log";
import type { ThreadAddress } from "../threads/thread-address.js";
import { type LiveThread, type LiveThreadOptions, openLiveThread } from "./thread-follower.js";

export interface LiveThreadHandle {
  readonly view: LiveThread;
  /** The view was there before: it may lag behind what its holder has seen elsewhere. */
  readonly wasOpen: boolean;
  /** Releases the view. Idempotent. */
  release(): void;
}

/** One view per thread and instance, shared by all its holders, and closed some time after the last one released it. */
export interface LiveThreads {
  acquire(thread: ThreadAddress, options?: { readonly returnsTo?: number | undefined }): LiveThreadHandle;
  /** Ends every view as `shutting_down`. */
  close(): void;
}

export interface LiveThreadsOptions
  extends Pick<LiveThreadOptions, "log" | "rebuilder" | "clock" | "observer"> {
  /** How long a view without holders stays open. Default 30 s. */
  readonly lingerMs?: number | undefined;
}

/** A subscriber that lost the connection mostly reconnects within this, and then nothing of the thread has to be read. */
const DEFAULT_LINGER_MS = 30_000;
/** Most views without holders. Each takes as much memory as its state and its last entries. */
const MAX_LINGERING = 200;

interface OpenView {
  readonly view: LiveThread;
  holders: number;
}

export function createLiveThreads(options: LiveThreadsOptions): LiveThreads {
  const { clock, lingerMs = DEFAULT_LINGER_MS } = options;
  const open = new Map<string, OpenView>();
  /** Oldest first. */
  const lingering = new Map<OpenView, Timer>();
  let closed = false;

  function openView(thread: ThreadAddress, returnsTo: number | undefined): OpenView {
    const key = threadKey(thread.ref);
    const view = openLiveThread({
      ...options,
      thread,
      returnsTo,
      onEnded() {
        stopLingering(opened);
        if (open.get(key) === opened) open.delete(key);
      },
    });
    const opened: OpenView = { view, holders: 0 };
    open.set(key, opened);
    return opened;
  }

  function linger(opened: OpenView): void {
    lingering.set(
      opened,
      clock.schedule(lingerMs, () => opened.view.end("unused")),
    );
    const [oldest] = lingering.keys();
    if (lingering.size > MAX_LINGERING) oldest?.view.end("unused");
  }

  function stopLingering(opened: OpenView): void {
    lingering.get(opened)?.cancel();
    lingering.delete(opened);
  }

  return {
    acquire(thread, { returnsTo } = {}) {
      const known = open.get(threadKey(thread.ref));
      const opened = known ?? openView(thread, returnsTo);
      stopLingering(opened);
      opened.holders += 1;
      let released = false;
      return {
        view: opened.view,
        wasOpen: known !== undefined,
        release() {
          if (released) return;
          released = true;
          opened.holders -= 1;
          if (opened.holders > 0 || opened.view.endedWith() !== undefined) return;
          if (closed || lingerMs === 0) opened.view.end("unused");
          else linger(opened);
        },
      };
    },
    close() {
      closed = true;
      for (const { view } of [...open.values()]) view.end("shutting_down");
    },
  };
}

/** How often a view that has ended, or is of another epoch, is replaced. */
const MAX_TRIES = 3;

/**
 * Acquires the thread's view once its fold includes this position. To be released. Waits through an outage of the store;
 * `undefined` when the signal was aborted first. Throws `shutting_down` when the instance closes.
 */
export async function acquireAt(
  views: LiveThreads,
  thread: ThreadAddress,
  head: LogPosition | undefined,
): Promise<LiveThreadHandle>;
export async function acquireAt(
  views: LiveThreads,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal: AbortSignal,
): Promise<LiveThreadHandle | undefined>;
export async function acquireAt(
  views: LiveThreads,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal?: AbortSignal,
): Promise<LiveThreadHandle | undefined> {
  for (let tries = 1; ; tries += 1) {
    const taken = views.acquire(thread);
    const { view } = taken;
    await orAborted(view.ready(), signal);
    const position = view.position();
    if (isOfAnotherEpoch(position, head)) view.end("gap");
    else await orAborted(view.reached(head), signal);
    const end = view.endedWith();
    if (!signal?.aborted && end === undefined) return taken;
    taken.release();
    if (signal?.aborted) return undefined;
    // An ended view may hold nothing, which must not be mistaken for the thread.
    if (end === "shutting_down") throw new ThroughlineError(end, "This instance is shutting down.");
    if (tries === MAX_TRIES) throw new ThroughlineError("internal", "The thread could not be read.");
  }
}

/** Whether the thread was deleted or its epoch renewed, and the view has not received that yet. Two empty logs are alike. */
function isOfAnotherEpoch(position: LogPosition | undefined, head: LogPosition | undefined): boolean {
  if (position === undefined || head === undefined || position.epoch === head.epoch) return false;
  return position.seq > 0 || head.seq > 0;
}

async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", stop);
}
