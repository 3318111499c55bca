import {
  type Clock,
  type GraphStatePort,
  type LogEntry,
  type LogPosition,
  retryStore,
  ThroughlineError,
} from "@throughline/ai-core";
import { applyEntry, emptyFold, type ThreadFold, threadFoldPort } from "@throughline/stream-adapter";
import type { Snapshot, TailEvent, ThreadLog } from "@throughline/thread-log";
import { readThreadFold } from "./read-thread-fold.js";
import { createRecentEntries, type RecentEntries } from "./recent-entries.js";
import type { ServiceObserver } from "./service-observer.js";
import type { ThreadAddress } from "./thread-address.js";

/** Why a view follows its thread no longer. `gap`: the log was trimmed past what the view held. */
export type ViewEnd = "deleted" | "gap" | "shutting_down" | "failed" | "unused";

/** Told in order and synchronously, so that a listener sees the fold of exactly the entry it is told. */
export interface ViewListener {
  /** The fold includes the entry; `before` does not. */
  entry?(before: ThreadFold, entry: LogEntry): void;
  /** After all entries of one batch were applied. */
  applied?(): void;
  ended?(why: ViewEnd): void;
}

export interface ThreadViewOptions {
  readonly log: Pick<ThreadLog, "read" | "snapshot" | "tail">;
  readonly state: GraphStatePort;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly observer: Pick<ServiceObserver, "failed" | "gap">;
  /** The seq a returning subscriber last saw: the view then keeps the entries since, if they are few. */
  readonly returnsTo?: number | undefined;
  /** Called once, after every listener was told. */
  readonly onEnded: () => void;
}

/**
 * A thread as this instance follows it: its fold, its position in the log, and its last entries. Everything on the instance
 * that asks what a thread shows (starts, drivers, subscribers, polls) reads the same view.
 */
export interface ThreadView {
  /** Resolves once the fold stands where the log does, or the view has ended. Never rejects. */
  readonly ready: Promise<void>;
  readonly recent: RecentEntries;
  fold(): ThreadFold;
  position(): LogPosition | undefined;
  /** Resolves when the fold includes this position, or never will. */
  reached(position: LogPosition | undefined): Promise<void>;
  listen(listener: ViewListener): () => void;
  endedWith(): ViewEnd | undefined;
  end(why: ViewEnd): void;
}

const ENTRIES_PER_READ = 1_000;
/** Someone who was away for longer is rare, and has the past rebuilt for them alone. */
const SHORTLY_BEFORE = 256;

/** Loads a thread and follows it until it is ended. A store that is away is waited for; nothing is told meanwhile. */
export function openThreadView(options: ThreadViewOptions): ThreadView {
  const { log, clock, thread, observer } = options;
  const recent = createRecentEntries();
  const listeners = new Set<ViewListener>();
  const reaching = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  const over = new AbortController();
  let fold = emptyFold;
  let position: LogPosition | undefined;
  let ended: ViewEnd | undefined;

  /** Keeps the entries it folds: the run that just began is nearly always among them. */
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

  /** The newest; or the one before, for a subscriber who returns to right before the newest: then the log is read once. */
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
    for await (const event of log.tail(thread.ref, position, { signal: over.signal })) {
      if (ended !== undefined) return;
      onEvent(event);
    }
  }

  function onEvent(event: TailEvent): void {
    switch (event.kind) {
      case "entries":
        for (const entry of event.entries) {
          const before = fold;
          apply(entry);
          for (const listener of listeners) listener.entry?.(before, entry);
        }
        for (const listener of listeners) listener.applied?.();
        tellReached();
        break;
      case "deleted":
        end("deleted");
        break;
      case "gap":
        observer.gap();
        end("gap");
        break;
    }
  }

  function tellReached(): void {
    for (const waiter of reaching) {
      if (ended === undefined && (position?.seq ?? 0) < waiter.seq) continue;
      reaching.delete(waiter);
      waiter.resolve();
    }
  }

  function end(why: ViewEnd): void {
    if (ended !== undefined) return;
    ended = why;
    over.abort();
    tellReached();
    for (const listener of [...listeners]) listener.ended?.(why);
    options.onEnded();
  }

  function endOnError(error: unknown): void {
    const isShutdown = error instanceof ThroughlineError && error.code === "shutting_down";
    if (!isShutdown && ended === undefined) observer.failed("A thread could not be followed.", error);
    end(isShutdown ? "shutting_down" : "failed");
  }

  const ready = retryStore({ clock, signal: over.signal }, load).then(() => {
    if (ended === undefined) void follow().catch(endOnError);
  }, endOnError);

  return {
    ready,
    recent,
    fold: () => fold,
    position: () => position,
    async reached(wanted) {
      await ready;
      const seq = wanted?.seq ?? 0;
      if (ended !== undefined || (position?.seq ?? 0) >= seq) return;
      await new Promise<void>((resolve) => reaching.add({ seq, resolve }));
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    endedWith: () => ended,
    end,
  };
}
