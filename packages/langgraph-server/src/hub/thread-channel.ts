import { type GraphStatePort, type LogEntry, type LogPosition, ThroughlineError } from "@throughline/ai-core";
import { applyEntry, emptyFold, type ThreadFold, threadFoldPort } from "@throughline/stream-adapter";
import type { Snapshot, TailEvent, ThreadLog } from "@throughline/thread-log";
import { readThreadFold } from "../drive/read-thread-fold.js";
import type { ServiceObserver } from "../drive/service-observer.js";
import { createRecentEntries, type RecentEntries } from "./recent-entries.js";
import { encodeSseFrame } from "./sse-frame.js";
import type { ThreadAddress } from "./thread-address.js";
import type { WatchEndReason } from "./thread-hub.js";
import type { WireFace } from "./wire-face.js";

/** Somebody who is fed live. */
export interface LiveWatcher {
  readonly face: WireFace;
  readonly follow: boolean;
  write(frames: readonly Buffer[]): void;
  end(reason: WatchEndReason): void;
}

/** Somebody who waits for a run to begin. */
export interface RunWaiter {
  readonly runId: string;
  /** Called with what the thread was before the run, right after its first entry was applied. */
  begin(before: ThreadFold, entry: LogEntry): void;
  end(reason: WatchEndReason): void;
}

export interface ThreadChannelOptions {
  readonly log: ThreadLog;
  readonly state: GraphStatePort;
  readonly thread: ThreadAddress;
  readonly observer: ServiceObserver;
  /** What the watcher for whom it is opened has last seen. */
  readonly returnsTo?: number | undefined;
  /** The channel has told everybody that nothing follows. */
  readonly onClosed: () => void;
}

/** One thread's log as this instance follows it: one fold, and one encoding per face, whatever the number of watchers. */
export interface ThreadChannel {
  /** Resolves once the fold stands where the log does; never rejects: a channel that can't be loaded ends its watchers. */
  readonly ready: Promise<void>;
  readonly recent: RecentEntries;
  fold(): ThreadFold;
  position(): LogPosition | undefined;
  /** From the next entry on. */
  goLive(watcher: LiveWatcher): void;
  waitFor(waiter: RunWaiter): void;
  forget(watcher: LiveWatcher | RunWaiter): void;
  /** Resolves when the fold includes this position, or never will. */
  reached(position: LogPosition): Promise<void>;
  encoded(face: WireFace, before: ThreadFold, entry: LogEntry): readonly Buffer[];
  /** R11's prelude at this position; `undefined` for a face that has none. */
  prelude(face: WireFace): readonly Buffer[] | undefined;
  /** Why nothing follows, once that is so. */
  closedWith(): WatchEndReason | undefined;
  close(reason: WatchEndReason): void;
}

const ENTRIES_PER_READ = 1_000;
/** Who was away for longer is rare, and has the past rebuilt for them alone. */
const SHORTLY_BEFORE = 256;

export function openThreadChannel(options: ThreadChannelOptions): ThreadChannel {
  const { log, thread, observer } = options;
  const recent = createRecentEntries();
  const live = new Map<string, Set<LiveWatcher>>();
  const waiting = new Set<RunWaiter>();
  const reaching = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  const stopTail = new AbortController();
  const encodings = new Map<string, WeakMap<LogEntry, readonly Buffer[]>>();
  const preludes = new Map<string, { readonly seq: number; readonly frames: readonly Buffer[] }>();
  let fold = emptyFold;
  let position: LogPosition | undefined;
  let closed: WatchEndReason | undefined;

  /** Keeps what it folds: the run that just began is nearly always among it. */
  async function load(): Promise<void> {
    const snapshot = await firstSnapshot();
    const decoded = snapshot && threadFoldPort.decode(snapshot.state, snapshot.foldVersion);
    fold = decoded ?? emptyFold;
    position = decoded && snapshot ? snapshot.position : undefined;
    recent.reset(fold, position?.seq ?? 0);
    for (;;) {
      const page = await log.read(thread.ref, position, ENTRIES_PER_READ);
      if (page.kind !== "entries") break;
      for (const entry of page.entries) apply(entry);
      position ??= page.head;
      if ((position?.seq ?? 0) >= (page.head?.seq ?? 0)) {
        if (!fold.run?.open) recent.shrink();
        return;
      }
    }
    ({ fold, position } = await readThreadFold(options, thread));
    recent.reset(fold, position?.seq ?? 0);
  }

  /** The newest, or the one before it if somebody comes back to right before the newest: then the log is read once for both. */
  async function firstSnapshot(): Promise<Snapshot | undefined> {
    const { version } = threadFoldPort;
    const newest = await log.snapshot(thread.ref, version);
    const { returnsTo = Number.POSITIVE_INFINITY } = options;
    const behind = (newest?.position.seq ?? 0) - returnsTo;
    if (behind < 0 || behind > SHORTLY_BEFORE) return newest;
    // Before the entry itself: some of its frames may be missing.
    return (await log.snapshot(thread.ref, version, returnsTo - 1)) ?? newest;
  }

  function apply(entry: LogEntry): void {
    fold = applyEntry(fold, entry);
    position = { epoch: entry.epoch, seq: entry.seq };
    recent.push(entry);
  }

  async function follow(): Promise<void> {
    for await (const event of log.tail(thread.ref, position, { signal: stopTail.signal })) {
      if (closed !== undefined) return;
      onEvent(event);
    }
  }

  function onEvent(event: TailEvent): void {
    switch (event.kind) {
      case "entries":
        deliver(event.entries);
        break;
      case "deleted":
        close("deleted");
        break;
      case "gap":
        observer.gap();
        close("failed");
        break;
    }
  }

  function deliver(entries: readonly LogEntry[]): void {
    let batches = new Map<string, Buffer[]>();
    const flush = () => {
      const written = batches;
      batches = new Map();
      for (const [key, frames] of written) {
        for (const watcher of live.get(key) ?? []) watcher.write(frames);
      }
    };
    for (const entry of entries) {
      const { type, run_id: runId } = entry.envelope;
      const before = fold;
      if (type === "run_start") flush();
      for (const [key, watchers] of live) {
        const [first] = watchers;
        if (!first) continue;
        const batch = batches.get(key) ?? [];
        batch.push(...encoded(first.face, before, entry));
        batches.set(key, batch);
      }
      apply(entry);
      if (type === "run_start") {
        flush();
        for (const waiter of [...waiting]) if (waiter.runId === runId) waiter.begin(before, entry);
      } else if (type === "run_end") {
        flush();
        endRun();
      }
    }
    flush();
    tellReached();
  }

  function endRun(): void {
    for (const watchers of live.values()) {
      for (const watcher of watchers) if (!watcher.follow) watcher.end("done");
    }
  }

  function encoded(face: WireFace, before: ThreadFold, entry: LogEntry): readonly Buffer[] {
    const known = encodings.get(face.key) ?? new WeakMap<LogEntry, readonly Buffer[]>();
    encodings.set(face.key, known);
    const frames = known.get(entry) ?? face.frames(before, entry, "live").map(encodeSseFrame);
    known.set(entry, frames);
    return frames;
  }

  function tellReached(): void {
    for (const waiter of reaching) {
      if (closed === undefined && (position?.seq ?? 0) < waiter.seq) continue;
      reaching.delete(waiter);
      waiter.resolve();
    }
  }

  function close(reason: WatchEndReason): void {
    if (closed !== undefined) return;
    closed = reason;
    stopTail.abort();
    tellReached();
    for (const watchers of live.values()) for (const watcher of watchers) watcher.end(reason);
    for (const waiter of waiting) waiter.end(reason);
    options.onClosed();
  }

  const ready = load().then(
    () => {
      void follow().catch(closeOnError);
    },
    (error: unknown) => closeOnError(error),
  );

  function closeOnError(error: unknown): void {
    const isShutdown = error instanceof ThroughlineError && error.code === "shutting_down";
    if (!isShutdown && closed === undefined) observer.failed("A thread could not be followed.", error);
    close(isShutdown ? "shutting_down" : "failed");
  }

  return {
    ready,
    recent,
    fold: () => fold,
    position: () => position,
    goLive(watcher) {
      const watchers = live.get(watcher.face.key) ?? new Set();
      live.set(watcher.face.key, watchers.add(watcher));
    },
    waitFor: (waiter) => void waiting.add(waiter),
    forget(watcher) {
      if ("face" in watcher) live.get(watcher.face.key)?.delete(watcher);
      else waiting.delete(watcher);
    },
    reached({ seq }) {
      if (closed !== undefined || (position?.seq ?? 0) >= seq) return Promise.resolve();
      return new Promise((resolve) => reaching.add({ seq, resolve }));
    },
    encoded,
    prelude(face) {
      const seq = position?.seq ?? 0;
      const known = preludes.get(face.key);
      if (known?.seq === seq) return known.frames;
      const frames = face.prelude(fold, position)?.map(encodeSseFrame);
      if (frames) preludes.set(face.key, { seq, frames });
      return frames;
    },
    closedWith: () => closed,
    close,
  };
}
