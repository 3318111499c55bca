import {
  type Clock,
  type LogEntry,
  type LogPosition,
  retryStore,
  ThroughlineError,
  type Timer,
} from "@throughline/ai-core";
import {
  applyEntry,
  emptyThreadProjection,
  type ThreadProjection,
  threadProjectionCodec,
} from "@throughline/reading";
import type { Batch, Loaded, TailEvent, ThreadLog } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { foldAt } from "./read-projection.js";
import { readThreadProjection } from "./read-thread-projection.js";
import type { ProjectionRebuilder } from "./rebuild-projection.js";
import { createRecentEntries, type RecentEntries } from "./recent-entries.js";

export interface LiveThreadOptions {
  readonly log: Pick<ThreadLog, "follow" | "read" | "saveSnapshot" | "snapshot" | "tail">;
  readonly rebuilder: ProjectionRebuilder;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly observer: Pick<ServiceObserver, "failed" | "gap">;
  /** The seq a returning subscriber last saw: the view then keeps the entries since, if they are few. */
  readonly returnsTo?: number | undefined;
  /** Called once, after every listener was notified. */
  readonly onEnded: () => void;
}

/** `unfoldable`: the log no longer has enough for a projection. */
type Took = "event" | "end" | "unfoldable";

/** How long an idle thread's fold stays in memory. */
const EVICT_AFTER_MS = 10_000;

/** Loads a thread and follows it until it is ended. Waits through an outage of the store; listeners get nothing meanwhile. */
export function openLiveThread(options: LiveThreadOptions): LiveThread {
  const { log, clock, thread, observer } = options;
  const recent = createRecentEntries();
  const listeners = new Set<LiveThreadListener>();
  const reaching = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  const over = new AbortController();
  let fold = emptyThreadProjection;
  let position: LogPosition | undefined;
  let ended: LiveThreadEnd | undefined;
  let isReady = false;
  /** The head when the thread was loaded: the view is ready when it has read that far. */
  let loadsUpTo = 0;
  let becomeReady = () => {};
  const loaded = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });
  /** The fold was rebuilt in the middle of a run, and may lack some of it. */
  let isPartial = false;
  let isEvicted = false;
  let waking: Promise<void> | undefined;
  let restTimer: Timer | undefined;

  const ask = <Result>(attempt: () => Promise<Result>) => retryStore({ clock, signal: over.signal }, attempt);

  function apply(entry: LogEntry): void {
    fold = applyEntry(fold, entry);
    position = { epoch: entry.epoch, seq: entry.seq };
    recent.push(entry);
  }

  async function follow(): Promise<void> {
    const { returnsTo } = options;
    const events = log.follow(thread.ref, {
      foldVersions: threadProjectionCodec.reads,
      returnsTo,
      signal: over.signal,
    });
    const why = await takeAll(events);
    if (why === "unfoldable") await followCheckpoint();
  }

  /** R20: follows from the checkpoint where the log is no longer sufficient. */
  async function followCheckpoint(): Promise<void> {
    const read = await ask(() => readThreadProjection(options, thread));
    begin(read.fold, read.position);
    isPartial = !read.isWhole;
    notifyReady();
    await takeAll(log.tail(thread.ref, position, { signal: over.signal }));
  }

  /** Not a loop over the events: it would retain the last one while it waits, and that may be all that was loaded. */
  async function takeAll(events: AsyncIterable<Loaded | TailEvent>): Promise<Took> {
    const iterator = events[Symbol.asyncIterator]();
    let took: Took = "event";
    try {
      while (took === "event") took = await takeOne(iterator);
      return took;
    } finally {
      await iterator.return?.();
    }
  }

  async function takeOne(events: AsyncIterator<Loaded | TailEvent>): Promise<Took> {
    const { done, value: event } = await events.next();
    if (done || ended !== undefined) return "end";
    if (event.kind === "gap" && !isReady) return "unfoldable";
    if (isEvicted) await ready();
    if (!isPartial || event.kind !== "entries") onEvent(event);
    else {
      onEvent(await complete(event));
      if (ended === undefined && !fold.run?.open) await becomeComplete();
    }
    return "event";
  }

  /** Completes entries of a run whose beginning was lost: its last checkpoint has all of it. */
  async function complete(batch: Batch): Promise<Batch> {
    const entries: LogEntry[] = [];
    for (const entry of batch.entries) {
      const whole = isPartial ? await ask(() => options.rebuilder.completeEntry(thread, entry)) : undefined;
      if (whole) isPartial = false;
      entries.push(whole ?? entry);
    }
    return { ...batch, entries };
  }

  /** Stores the thread's projection after the run's end, as a snapshot for readers of its log from here on. */
  async function becomeComplete(): Promise<void> {
    if (isPartial) {
      const read = await ask(() => readThreadProjection(options, thread));
      const isHere = read.position?.epoch === position?.epoch && read.position?.seq === position?.seq;
      if (!isHere || !read.isWhole) return;
      begin(read.fold, position);
      isPartial = false;
    } else if (position) {
      const snapshot = {
        position,
        foldVersion: threadProjectionCodec.version,
        state: threadProjectionCodec.encode(fold),
      };
      await ask(() => log.saveSnapshot(thread.ref, snapshot));
    }
  }

  function begin(from: ThreadProjection, at: LogPosition | undefined): void {
    fold = from;
    position = at;
    recent.reset(fold, position?.seq ?? 0);
  }

  function onEvent(event: Loaded | TailEvent): void {
    // It may have ended while it woke up.
    if (ended !== undefined) return;
    switch (event.kind) {
      case "loaded":
        load(event);
        break;
      case "entries":
        for (const entry of event.entries) {
          const before = fold;
          apply(entry);
          for (const listener of listeners) listener.entry?.(before, entry);
        }
        for (const listener of listeners) listener.applied?.();
        if (!isReady && (position?.seq ?? 0) >= loadsUpTo) notifyReady();
        notifyReached();
        evictLater();
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

  /** Applies the loaded entries and retains them: the run that just began is nearly always among them. */
  function load({ snapshot, entries, head }: Loaded): void {
    const decoded = snapshot && threadProjectionCodec.decode(snapshot.state, snapshot.foldVersion);
    begin(decoded ?? emptyThreadProjection, decoded && snapshot ? snapshot.position : undefined);
    for (const entry of entries) apply(entry);
    position ??= head;
    loadsUpTo = head?.seq ?? 0;
    if ((position?.seq ?? 0) >= loadsUpTo) notifyReady();
  }

  function notifyReady(): void {
    isReady = true;
    if (!fold.run?.open) recent.shrink();
    becomeReady();
    notifyReached();
    evictLater();
  }

  /** Evicts the fold of an idle thread after a while: most subscribers are on idle threads, which then cost only a position. */
  function evictLater(): void {
    restTimer?.cancel();
    restTimer = fold.run?.open ? undefined : clock.schedule(EVICT_AFTER_MS, rest);
  }

  function rest(): void {
    if (ended !== undefined || fold.run?.open || waking) return;
    isEvicted = true;
    restTimer = undefined;
    // Callers may check at any time whether a run is open.
    fold = { ...emptyThreadProjection, run: fold.run, checkpoint_id: fold.checkpoint_id };
    recent.reset(fold, position?.seq ?? 0);
  }

  function ready(): Promise<void> {
    if (!isReady) return loaded;
    if (!isEvicted) return Promise.resolve();
    waking ??= wake().finally(() => {
      waking = undefined;
    });
    return waking;
  }

  async function wake(): Promise<void> {
    const at = position;
    try {
      const read = at && (await ask(() => foldAt(log, thread.ref, at)));
      if (ended !== undefined) return;
      if (at && !read) {
        // Trimmed meanwhile: later entries can't be applied to this position.
        observer.gap();
        end("gap");
        return;
      }
      fold = read ?? emptyThreadProjection;
      recent.reset(fold, at?.seq ?? 0);
      isEvicted = false;
      evictLater();
    } catch (error) {
      endOnError(error);
    }
  }

  function notifyReached(): void {
    for (const waiter of reaching) {
      if (ended === undefined && (position?.seq ?? 0) < waiter.seq) continue;
      reaching.delete(waiter);
      waiter.resolve();
    }
  }

  function end(why: LiveThreadEnd): void {
    if (ended !== undefined) return;
    ended = why;
    restTimer?.cancel();
    over.abort();
    becomeReady();
    notifyReached();
    for (const listener of [...listeners]) listener.ended?.(why);
    options.onEnded();
  }

  function endOnError(error: unknown): void {
    const isShutdown = error instanceof ThroughlineError && error.code === "shutting_down";
    if (!isShutdown && ended === undefined) observer.failed("A thread could not be followed.", error);
    end(isShutdown ? "shutting_down" : "failed");
  }

  void follow().catch(endOnError);

  return {
    ready,
    recent,
    fold: () => fold,
    position: () => position,
    async reached(wanted) {
      await ready();
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

/** The reason why a view no longer follows its thread. `gap`: the log was trimmed past what the view held. */
export type LiveThreadEnd = "deleted" | "gap" | "shutting_down" | "failed" | "unused";

/** Called in order and synchronously, so that a listener sees the fold of exactly the entry it gets. */
interface LiveThreadListener {
  /** The fold includes the entry; `before` does not. */
  entry?(before: ThreadProjection, entry: LogEntry): void;
  /** After all entries of one batch were applied. */
  applied?(): void;
  ended?(why: LiveThreadEnd): void;
}

/**
 * A thread as this instance follows it: its fold, its position in the log, and its last entries. All readers of a thread on
 * this instance (starts, drivers, subscribers, polls) share one view.
 */
export interface LiveThread {
  /**
   * Resolves once the fold is at the view's position, or the view has ended. Never rejects. To be awaited before anything
   * else is read: an idle thread's fold is evicted after a while, and reloaded on demand.
   */
  ready(): Promise<void>;
  readonly recent: RecentEntries;
  fold(): ThreadProjection;
  position(): LogPosition | undefined;
  /** Resolves when the fold includes this position, or never will. */
  reached(position: LogPosition | undefined): Promise<void>;
  listen(listener: LiveThreadListener): () => void;
  endedWith(): LiveThreadEnd | undefined;
  end(why: LiveThreadEnd): void;
}
