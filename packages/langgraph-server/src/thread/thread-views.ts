import type { Timer } from "@throughline/ai-core";
import { threadKey } from "@throughline/thread-log";
import { openThreadView, type ThreadViewOptions } from "./open-thread-view.js";
import type { ThreadAddress } from "./thread-address.js";
import type { ThreadView } from "./thread-view.js";

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
