import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadRef } from "../thread-ref.js";
import { answerRange, type RangeAnswer } from "./entries.js";
import type { FanOut, ThreadFeed } from "./fan-out.js";
import type { StoredRange, StoredThread } from "./log-store.js";
import { beginJoin, drainBuffered, endTail, type TailBuffer, type TailPosition } from "./tail-buffer.js";
import type { Batch, FollowOptions, Gap, Loaded, TailEvent } from "./thread-log.js";

export interface TailDeps {
  readonly fanOut: FanOut;
  readonly load: (
    thread: ThreadRef,
    options: LoadOptions,
    signal: AbortSignal,
  ) => Promise<StoredThread | undefined>;
  /** Reads a range. Waits however long the store is away, until it is aborted. */
  readonly read: (
    thread: ThreadRef,
    position: TailPosition,
    signal: AbortSignal,
  ) => Promise<StoredRange | undefined>;
  readonly completeGap: (
    thread: ThreadRef,
    answer: Extract<RangeAnswer, { kind: "gap" }>,
    after: TailPosition,
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
  buffer: TailBuffer,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<TailEvent, undefined> {
  return new Tail<never>(deps, thread, buffer, signal);
}

/** Tails a thread like `tailThread`, but the first read loads it from its snapshot. */
export function followThread(
  deps: TailDeps,
  thread: ThreadRef,
  buffer: TailBuffer,
  options: LoadOptions,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Loaded | TailEvent, undefined> {
  return new Tail<Loaded>(deps, thread, buffer, signal, (feed) => loadThread(deps, feed, buffer, options));
}

/**
 * Iterates over a thread's events. Written out instead of as a generator, which retains what it last yielded for as long as it
 * waits: on a quiet thread that would be the whole of what was loaded. A class, because thousands wait at once, and closures
 * would cost each of them more than its buffer does. One `next` at a time.
 */
class Tail<First extends Loaded = never> implements AsyncIterableIterator<First | TailEvent, undefined> {
  private readonly deps: TailDeps;
  private readonly thread: ThreadRef;
  private readonly buffer: TailBuffer;
  private readonly signal: AbortSignal | undefined;
  private readonly onAbort: (() => void) | undefined;
  /** Gives the first event, once. */
  private load: ((feed: ThreadFeed) => Promise<First | Gap | undefined>) | undefined;
  private feed: ThreadFeed | undefined;
  private isOver = false;

  constructor(
    deps: TailDeps,
    thread: ThreadRef,
    buffer: TailBuffer,
    signal: AbortSignal | undefined,
    load?: (feed: ThreadFeed) => Promise<First | Gap | undefined>,
  ) {
    this.deps = deps;
    this.thread = thread;
    this.buffer = buffer;
    this.signal = signal;
    this.load = load;
    this.onAbort = signal && (() => endTail(buffer, "left"));
    if (signal?.aborted) endTail(buffer, "left");
    if (this.onAbort) signal?.addEventListener("abort", this.onAbort, { once: true });
  }

  async next(): Promise<IteratorResult<First | TailEvent, undefined>> {
    const { deps, buffer } = this;
    if (this.isOver) return { done: true, value: undefined };
    try {
      if (deps.isClosing()) endTail(buffer, "closing");
      this.feed ??= deps.fanOut.join(this.thread, buffer);
      let value: First | TailEvent | undefined;
      // The one long wait has no other wait around it: each idle tail would retain the frames of those.
      while (value === undefined && buffer.ended === undefined) {
        const isLive = buffer.mode === "live";
        value = isLive ? bufferedBatch(buffer) : await this.readOn(this.feed);
        if (isLive && value === undefined) await change(buffer);
      }
      if (value === undefined && buffer.ended === "closing") {
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
    endTail(this.buffer, "left");
    this.finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private readOn(feed: ThreadFeed): Promise<First | TailEvent | undefined> {
    const { load } = this;
    this.load = undefined;
    return load ? load(feed) : readOn(this.deps, feed, this.buffer);
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.feed) this.deps.fanOut.leave(this.feed, this.buffer);
    if (this.onAbort) this.signal?.removeEventListener("abort", this.onAbort);
  }
}

/** Loads a thread and joins its feed. `undefined` when the tail ended first, or the thread was deleted: the tail reports that. */
async function loadThread(
  deps: TailDeps,
  feed: ThreadFeed,
  buffer: TailBuffer,
  options: LoadOptions,
): Promise<Loaded | Gap | undefined> {
  beginJoin(buffer);
  const stored = await untilEnded(buffer, (signal) => deps.load(feed.thread, options, signal));
  if (buffer.ended !== undefined) return undefined;
  const from = stored?.snapshot?.position;
  const answer = answerRange(stored, from);
  if (answer.kind === "gap") return { ...answer, kept: [] };
  if (answer.kind === "deleted") return undefined;
  // An empty log has shown nothing: its beginning is the epoch of its first entry.
  const isEmpty = (answer.head?.seq ?? 0) === 0;
  join(deps.fanOut, feed, buffer, isEmpty ? { ...answer, head: undefined } : answer, from?.seq ?? 0);
  return { ...answer, kind: "loaded", snapshot: stored?.snapshot };
}

function bufferedBatch(buffer: TailBuffer): Batch | undefined {
  const entries = drainBuffered(buffer);
  const last = entries.at(-1);
  return last && { kind: "entries", entries, head: { epoch: last.epoch, seq: last.seq } };
}

async function readOn(deps: TailDeps, feed: ThreadFeed, buffer: TailBuffer): Promise<TailEvent | undefined> {
  const { thread } = feed;
  beginJoin(buffer);
  const range = await untilEnded(buffer, (signal) => deps.read(thread, buffer.position, signal));
  if (buffer.ended !== undefined) return undefined;
  const answer = answerRange(range, positionOf(buffer.position));
  if (answer.kind === "gap") {
    return untilEnded(buffer, (signal) => deps.completeGap(thread, answer, buffer.position, signal));
  }
  if (answer.kind === "deleted") return answer;
  join(deps.fanOut, feed, buffer, answer, buffer.position.seq);
  return answer.entries.length > 0 ? answer : undefined;
}

/** After a read: live where it reached the end of the log. */
function join(
  fanOut: FanOut,
  feed: ThreadFeed,
  buffer: TailBuffer,
  { entries, head }: Batch,
  after: number,
): void {
  buffer.position = { epoch: head?.epoch, seq: entries.at(-1)?.seq ?? after };
  if (buffer.position.seq === (head?.seq ?? 0)) fanOut.goLive(feed, buffer);
  else buffer.mode = "behind";
}

/** `undefined` when the tail ended first: leaving must not wait for a store that is away. */
async function untilEnded<T>(
  buffer: TailBuffer,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const abandoned = new AbortController();
  buffer.abandonRead = () => abandoned.abort();
  try {
    return await read(abandoned.signal);
  } catch (error) {
    if (buffer.ended !== undefined) return undefined;
    throw error;
  } finally {
    buffer.abandonRead = undefined;
  }
}

function change(buffer: TailBuffer): Promise<void> {
  return new Promise((resolve) => {
    buffer.notify = resolve;
  });
}

function positionOf(position: TailPosition): { epoch: string; seq: number } | undefined {
  return position.epoch === undefined ? undefined : { epoch: position.epoch, seq: position.seq };
}
