import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadRef } from "../thread-ref.js";
import { answerRange, type RangeAnswer } from "./entries.js";
import type { Topic, Topics } from "./fan-out.js";
import type { StoredRange, StoredThread } from "./log-store.js";
import { beginJoin, endWatcher, type Place, takeBuffered, type Watcher } from "./tail-buffer.js";
import type { Batch, FollowOptions, Gap, Loaded, TailEvent } from "./thread-log.js";

export interface TailDeps {
  readonly topics: Topics;
  readonly load: (
    thread: ThreadRef,
    options: LoadOptions,
    signal: AbortSignal,
  ) => Promise<StoredThread | undefined>;
  /** Reads wait however long the store is away, until they are aborted. */
  readonly read: (thread: ThreadRef, place: Place, signal: AbortSignal) => Promise<StoredRange | undefined>;
  readonly completeGap: (
    thread: ThreadRef,
    answer: Extract<RangeAnswer, { kind: "gap" }>,
    after: Place,
    signal: AbortSignal,
  ) => Promise<Gap>;
  /** Whether the log has ended its tails; one that begins now ends at once. */
  readonly isClosing: () => boolean;
}

export type LoadOptions = Pick<FollowOptions, "foldVersions" | "returnsTo">;

/** Subscribe, then read, then drain by seq, then live (R2, E1): in that order nothing can fall between. */
export function tailThread(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<TailEvent, undefined> {
  return new Tail<never>(deps, thread, watcher, signal);
}

/** The same, whose first read loads the thread from its snapshot. */
export function followThread(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  options: LoadOptions,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Loaded | TailEvent, undefined> {
  return new Tail<Loaded>(deps, thread, watcher, signal, (topic) =>
    loadThread(deps, topic, watcher, options),
  );
}

/**
 * Written out instead of as a generator, which keeps what it last yielded for as long as it waits: on a quiet thread that
 * would be the whole of what was loaded. A class, because thousands wait at once, and closures would cost each of them more
 * than its watcher does. One `next` at a time.
 */
class Tail<First extends Loaded = never> implements AsyncIterableIterator<First | TailEvent, undefined> {
  private readonly deps: TailDeps;
  private readonly thread: ThreadRef;
  private readonly watcher: Watcher;
  private readonly signal: AbortSignal | undefined;
  private readonly onAbort: (() => void) | undefined;
  /** Gives the first event, once. */
  private load: ((topic: Topic) => Promise<First | Gap | undefined>) | undefined;
  private topic: Topic | undefined;
  private isOver = false;

  constructor(
    deps: TailDeps,
    thread: ThreadRef,
    watcher: Watcher,
    signal: AbortSignal | undefined,
    load?: (topic: Topic) => Promise<First | Gap | undefined>,
  ) {
    this.deps = deps;
    this.thread = thread;
    this.watcher = watcher;
    this.signal = signal;
    this.load = load;
    this.onAbort = signal && (() => endWatcher(watcher, "left"));
    if (signal?.aborted) endWatcher(watcher, "left");
    if (this.onAbort) signal?.addEventListener("abort", this.onAbort, { once: true });
  }

  async next(): Promise<IteratorResult<First | TailEvent, undefined>> {
    const { deps, watcher } = this;
    if (this.isOver) return { done: true, value: undefined };
    try {
      if (deps.isClosing()) endWatcher(watcher, "closing");
      this.topic ??= deps.topics.join(this.thread, watcher);
      let value: First | TailEvent | undefined;
      // In the one place where it waits for long, nothing else waits with it: every frame is kept by each idle tail.
      while (value === undefined && watcher.ended === undefined) {
        const isLive = watcher.mode === "live";
        value = isLive ? bufferedBatch(watcher) : await this.readOn(this.topic);
        if (isLive && value === undefined) await change(watcher);
      }
      if (value === undefined && watcher.ended === "closing") {
        throw new ThroughlineError("shutting_down", "This instance is shutting down; connect again.");
      }
      if (value === undefined || value.kind === "gap" || value.kind === "deleted") this.finish();
      return value === undefined ? { done: true, value } : { done: false, value };
    } catch (error) {
      this.finish();
      throw error;
    }
  }

  /** A `next` under way ends, too: on a quiet thread it would wait for ever. */
  async return(): Promise<IteratorResult<First | TailEvent, undefined>> {
    endWatcher(this.watcher, "left");
    this.finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private readOn(topic: Topic): Promise<First | TailEvent | undefined> {
    const { load } = this;
    this.load = undefined;
    return load ? load(topic) : readOn(this.deps, topic, this.watcher);
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.topic) this.deps.topics.leave(this.topic, this.watcher);
    if (this.onAbort) this.signal?.removeEventListener("abort", this.onAbort);
  }
}

/** `undefined` when the tail ended first, or of a thread that was deleted, which is for the tail to tell. */
async function loadThread(
  deps: TailDeps,
  topic: Topic,
  watcher: Watcher,
  options: LoadOptions,
): Promise<Loaded | Gap | undefined> {
  beginJoin(watcher);
  const stored = await untilEnded(watcher, (signal) => deps.load(topic.thread, options, signal));
  if (watcher.ended !== undefined) return undefined;
  const from = stored?.snapshot?.position;
  const answer = answerRange(stored, from);
  if (answer.kind === "gap") return { ...answer, kept: [] };
  if (answer.kind === "deleted") return undefined;
  // An empty log has shown nothing: whichever epoch its first entry is of, that is its beginning.
  const isEmpty = (answer.head?.seq ?? 0) === 0;
  join(deps.topics, topic, watcher, isEmpty ? { ...answer, head: undefined } : answer, from?.seq ?? 0);
  return { ...answer, kind: "loaded", snapshot: stored?.snapshot };
}

function bufferedBatch(watcher: Watcher): Batch | undefined {
  const entries = takeBuffered(watcher);
  const last = entries.at(-1);
  return last && { kind: "entries", entries, head: { epoch: last.epoch, seq: last.seq } };
}

async function readOn(deps: TailDeps, topic: Topic, watcher: Watcher): Promise<TailEvent | undefined> {
  const { thread } = topic;
  beginJoin(watcher);
  const range = await untilEnded(watcher, (signal) => deps.read(thread, watcher.place, signal));
  if (watcher.ended !== undefined) return undefined;
  const answer = answerRange(range, positionOf(watcher.place));
  if (answer.kind === "gap") {
    return untilEnded(watcher, (signal) => deps.completeGap(thread, answer, watcher.place, signal));
  }
  if (answer.kind === "deleted") return answer;
  join(deps.topics, topic, watcher, answer, watcher.place.seq);
  return answer.entries.length > 0 ? answer : undefined;
}

/** After a read: live where it reached the end of the log. */
function join(topics: Topics, topic: Topic, watcher: Watcher, { entries, head }: Batch, after: number): void {
  watcher.place = { epoch: head?.epoch, seq: entries.at(-1)?.seq ?? after };
  if (watcher.place.seq === (head?.seq ?? 0)) topics.goLive(topic, watcher);
  else watcher.mode = "behind";
}

/** `undefined` when the tail ended first: leaving must not wait for a store that is away. */
async function untilEnded<T>(
  watcher: Watcher,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const abandoned = new AbortController();
  watcher.abandonRead = () => abandoned.abort();
  try {
    return await read(abandoned.signal);
  } catch (error) {
    if (watcher.ended !== undefined) return undefined;
    throw error;
  } finally {
    watcher.abandonRead = undefined;
  }
}

function change(watcher: Watcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.notify = resolve;
  });
}

function positionOf(place: Place): { epoch: string; seq: number } | undefined {
  return place.epoch === undefined ? undefined : { epoch: place.epoch, seq: place.seq };
}
