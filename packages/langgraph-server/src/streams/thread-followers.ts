import { type LogPosition, ThroughlineError, type Timer } from "@throughline/ai-core";
import { threadKey } from "@throughline/thread-log";
import type { ThreadAddress } from "../threads/thread-address.js";
import { openThreadView, type ThreadView, type ThreadViewOptions } from "./thread-follower.js";

export interface TakenView {
  readonly view: ThreadView;
  /** The view was there before: it may lag behind what its taker has seen elsewhere. */
  readonly wasOpen: boolean;
  /** Gives the view back. Idempotent. */
  release(): void;
}

/** One view per thread and instance, shared by everything that takes it, kept for a while after the last has left. */
export interface ThreadViews {
  take(thread: ThreadAddress, options?: { readonly returnsTo?: number | undefined }): TakenView;
  /** Ends every view as `shutting_down`. */
  close(): void;
}

export interface ThreadViewsOptions
  extends Pick<ThreadViewOptions, "log" | "rebuilder" | "clock" | "observer"> {
  /** How long a view that is no longer taken is kept. Default 30 s. */
  readonly lingerMs?: number | undefined;
}

/** A subscriber who lost the connection mostly comes back within this, and then nothing of the thread has to be read. */
const DEFAULT_LINGER_MS = 30_000;
/** Each takes as much memory as its state and its last entries. */
const MAX_LINGERING = 200;

interface OpenView {
  readonly view: ThreadView;
  takers: number;
}

export function createThreadViews(options: ThreadViewsOptions): ThreadViews {
  const { clock, lingerMs = DEFAULT_LINGER_MS } = options;
  const open = new Map<string, OpenView>();
  /** Oldest first. */
  const lingering = new Map<OpenView, Timer>();
  let closed = false;

  function openView(thread: ThreadAddress, returnsTo: number | undefined): OpenView {
    const key = threadKey(thread.ref);
    const view = openThreadView({
      ...options,
      thread,
      returnsTo,
      onEnded() {
        stopLingering(opened);
        if (open.get(key) === opened) open.delete(key);
      },
    });
    const opened: OpenView = { view, takers: 0 };
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
    take(thread, { returnsTo } = {}) {
      const known = open.get(threadKey(thread.ref));
      const opened = known ?? openView(thread, returnsTo);
      stopLingering(opened);
      opened.takers += 1;
      let released = false;
      return {
        view: opened.view,
        wasOpen: known !== undefined,
        release() {
          if (released) return;
          released = true;
          opened.takers -= 1;
          if (opened.takers > 0 || opened.view.endedWith() !== undefined) return;
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
 * Takes the thread's view once its fold includes this position. To be released. Waits while the store is away; `undefined` when
 * the signal was aborted first. Throws `shutting_down` when the instance closes.
 */
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
): Promise<TakenView>;
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal: AbortSignal,
): Promise<TakenView | undefined>;
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal?: AbortSignal,
): Promise<TakenView | undefined> {
  for (let tries = 1; ; tries += 1) {
    const taken = views.take(thread);
    const { view } = taken;
    await orAborted(view.ready(), signal);
    const position = view.position();
    if (isOfAnotherEpoch(position, head)) view.end("gap");
    else await orAborted(view.reached(head), signal);
    const end = view.endedWith();
    if (!signal?.aborted && end === undefined) return taken;
    taken.release();
    if (signal?.aborted) return undefined;
    // An ended view may hold nothing: what it shows must not be taken for the thread.
    if (end === "shutting_down") throw new ThroughlineError(end, "This instance is shutting down.");
    if (tries === MAX_TRIES) throw new ThroughlineError("internal", "The thread could not be read.");
  }
}

/** The thread was deleted or its epoch renewed, and the view has not heard of it yet. Two empty logs are alike. */
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
