import {
  type Clock,
  type LogEntry,
  type LogPosition,
  retryStore,
  ThroughlineError,
  type Timer,
} from "@throughline/ai-core";
import { applyEntry, emptyFold, type ThreadFold, threadFoldPort } from "@throughline/reading";
import type { Batch, Loaded, TailEvent, ThreadLog } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { foldAt } from "./read-projection.js";
import { readThreadFold } from "./read-thread-projection.js";
import type { FoldRebuilder } from "./rebuild-projection.js";
import { createRecentEntries, type RecentEntries } from "./recent-entries.js";

export interface ThreadViewOptions {
  readonly log: Pick<ThreadLog, "follow" | "read" | "saveSnapshot" | "snapshot" | "tail">;
  readonly rebuilder: FoldRebuilder;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly observer: Pick<ServiceObserver, "failed" | "gap">;
  /** The seq a returning subscriber last saw: the view then keeps the entries since, if they are few. */
  readonly returnsTo?: number | undefined;
  /** Called once, after every listener was told. */
  readonly onEnded: () => void;
}

/** `unfoldable`: the log can't tell what the thread is. */
type Took = "event" | "end" | "unfoldable";

/** How long an idle thread's fold is kept. */
const REST_AFTER_MS = 10_000;

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
  let isReady = false;
  /** The head when the thread was loaded: the view is ready when it has read that far. */
  let loadsUpTo = 0;
  let becomeReady = () => {};
  const loaded = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });
  /** The fold was rebuilt in the middle of a run, and may lack some of it. */
  let isPartial = false;
  let isResting = false;
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
      foldVersions: threadFoldPort.reads,
      returnsTo,
      signal: over.signal,
    });
    const why = await takeAll(events);
    if (why === "unfoldable") await followCheckpoint();
  }

  /** R20: where the log no longer tells what the thread is, the checkpoint does. */
  async function followCheckpoint(): Promise<void> {
    const read = await ask(() => readThreadFold(options, thread));
    begin(read.fold, read.position);
    isPartial = !read.isWhole;
    tellReady();
    await takeAll(log.tail(thread.ref, position, { signal: over.signal }));
  }

  /** Not a loop over the events: it would keep the last one while it waits, and that may be all that was loaded. */
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
    if (isResting) await ready();
    if (!isPartial || event.kind !== "entries") onEvent(event);
    else {
      onEvent(await complete(event));
      if (ended === undefined && !fold.run?.open) await becomeWhole();
    }
    return "event";
  }

  /** The last checkpoint of the run whose beginning was lost tells all of it. */
  async function complete(batch: Batch): Promise<Batch> {
    const entries: LogEntry[] = [];
    for (const entry of batch.entries) {
      const whole = isPartial ? await ask(() => options.rebuilder.completeEntry(thread, entry)) : undefined;
      if (whole) isPartial = false;
      entries.push(whole ?? entry);
    }
    return { ...batch, entries };
  }

  /** The run is over: what the thread is now is kept, for readers that fold its log from here on. */
  async function becomeWhole(): Promise<void> {
    if (isPartial) {
      const read = await ask(() => readThreadFold(options, thread));
      const isHere = read.position?.epoch === position?.epoch && read.position?.seq === position?.seq;
      if (!isHere || !read.isWhole) return;
      begin(read.fold, position);
      isPartial = false;
    } else if (position) {
      const snapshot = { position, foldVersion: threadFoldPort.version, state: threadFoldPort.encode(fold) };
      await ask(() => log.saveSnapshot(thread.ref, snapshot));
    }
  }

  function begin(from: ThreadFold, at: LogPosition | undefined): void {
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
        if (!isReady && (position?.seq ?? 0) >= loadsUpTo) tellReady();
        tellReached();
        restLater();
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

  /** Keeps the entries it folds: the run that just began is nearly always among them. */
  function load({ snapshot, entries, head }: Loaded): void {
    const decoded = snapshot && threadFoldPort.decode(snapshot.state, snapshot.foldVersion);
    begin(decoded ?? emptyFold, decoded && snapshot ? snapshot.position : undefined);
    for (const entry of entries) apply(entry);
    position ??= head;
    loadsUpTo = head?.seq ?? 0;
    if ((position?.seq ?? 0) >= loadsUpTo) tellReady();
  }

  function tellReady(): void {
    isReady = true;
    if (!fold.run?.open) recent.shrink();
    becomeReady();
    tellReached();
    restLater();
  }

  /** Most viewers look at threads in which nothing happens: those cost a position and no fold. */
  function restLater(): void {
    restTimer?.cancel();
    restTimer = fold.run?.open ? undefined : clock.schedule(REST_AFTER_MS, rest);
  }

  function rest(): void {
    if (ended !== undefined || fold.run?.open || waking) return;
    isResting = true;
    restTimer = undefined;
    // Whether a run is open may be asked at any time.
    fold = { ...emptyFold, run: fold.run, checkpoint_id: fold.checkpoint_id };
    recent.reset(fold, position?.seq ?? 0);
  }

  function ready(): Promise<void> {
    if (!isReady) return loaded;
    if (!isResting) return Promise.resolve();
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
        // Trimmed meanwhile: what comes next can't be told from here on.
        observer.gap();
        end("gap");
        return;
      }
      fold = read ?? emptyFold;
      recent.reset(fold, at?.seq ?? 0);
      isResting = false;
      restLater();
    } catch (error) {
      endOnError(error);
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
    restTimer?.cancel();
    over.abort();
    becomeReady();
    tellReached();
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

/** Why a view follows its thread no longer. `gap`: the log was trimmed past what the view held. */
export type ViewEnd = "deleted" | "gap" | "shutting_down" | "failed" | "unused";

/** Told in order and synchronously, so that a listener sees the fold of exactly the entry it is told. */
interface ViewListener {
  /** The fold includes the entry; `before` does not. */
  entry?(before: ThreadFold, entry: LogEntry): void;
  /** After all entries of one batch were applied. */
  applied?(): void;
  ended?(why: ViewEnd): void;
}

/**
 * A thread as this instance follows it: its fold, its position in the log, and its last entries. Everything on the instance
 * that asks what a thread shows (starts, drivers, subscribers, polls) reads the same view.
 */
export interface ThreadView {
  /**
   * Resolves once the fold stands at the view's position, or the view has ended. Never rejects. To be awaited before anything
   * else is read: an idle thread's fold is let go after a while, and loaded again when it is asked for.
   */
  ready(): Promise<void>;
  readonly recent: RecentEntries;
  fold(): ThreadFold;
  position(): LogPosition | undefined;
  /** Resolves when the fold includes this position, or never will. */
  reached(position: LogPosition | undefined): Promise<void>;
  listen(listener: ViewListener): () => void;
  endedWith(): ViewEnd | undefined;
  end(why: ViewEnd): void;
}
