import { ThroughlineError } from "@throughline/ai-core";
import type { StoredRange, StoredThread } from "../port/log-store.js";
import type { Batch, FollowOptions, Gap, Loaded, TailEvent } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { answerRange, type RangeAnswer } from "./answer-range.js";
import type { Topic, Topics } from "./topics.js";
import { beginJoin, endWatcher, type Place, takeBuffered, type Watcher } from "./watcher.js";

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

export type LoadOptions = Pick<FollowOptions, "foldVersion" | "returnsTo">;

/** Subscribe, then read, then drain by seq, then live (R2, E1): in that order nothing can fall between. */
export function tailThread(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<TailEvent, undefined> {
  return leavable(watcher, signal, (done) => follow(deps, thread, watcher, done));
}

/** The same, whose first read loads the thread from its snapshot. */
export function followThread(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  options: LoadOptions,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Loaded | TailEvent, undefined> {
  return leavable(watcher, signal, (done) => follow(deps, thread, watcher, done, options));
}

function leavable<Event>(
  watcher: Watcher,
  signal: AbortSignal | undefined,
  begin: (done: () => void) => AsyncGenerator<Event, undefined>,
): AsyncIterableIterator<Event, undefined> {
  const leave = () => endWatcher(watcher, "left");
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  const forget = () => signal?.removeEventListener("abort", leave);
  const events = begin(forget);
  return {
    next: () => events.next(),
    // A generator answers `return` only after the `next` before it, which may wait for ever on a quiet thread.
    return: async () => {
      leave();
      forget();
      await events.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function follow(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  done: () => void,
): AsyncGenerator<TailEvent, undefined>;
function follow(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  done: () => void,
  loading: LoadOptions,
): AsyncGenerator<Loaded | TailEvent, undefined>;
async function* follow(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  done: () => void,
  loading?: LoadOptions,
): AsyncGenerator<Loaded | TailEvent, undefined> {
  const { topics } = deps;
  if (deps.isClosing()) endWatcher(watcher, "closing");
  const topic = topics.join(thread, watcher);
  try {
    if (loading && watcher.ended === undefined) {
      beginJoin(watcher);
      const stored = await untilEnded(watcher, (signal) => deps.load(thread, loading, signal));
      if (watcher.ended === undefined) {
        const from = stored?.snapshot?.position;
        const answer = answerRange(stored, from);
        if (answer.kind === "gap") {
          yield { ...answer, kept: [] };
          return undefined;
        }
        if (answer.kind === "entries") {
          // An empty log has shown nothing: whichever epoch its first entry is of, that is its beginning.
          const isEmpty = (answer.head?.seq ?? 0) === 0;
          join(topics, topic, watcher, isEmpty ? { ...answer, head: undefined } : answer, from?.seq ?? 0);
          yield { ...answer, kind: "loaded", snapshot: stored?.snapshot };
        }
      }
    }
    while (watcher.ended === undefined) {
      if (watcher.mode === "live") {
        const entries = takeBuffered(watcher);
        const last = entries.at(-1);
        if (last) yield { kind: "entries", entries, head: { epoch: last.epoch, seq: last.seq } };
        else await change(watcher);
        continue;
      }
      beginJoin(watcher);
      const range = await untilEnded(watcher, (signal) => deps.read(thread, watcher.place, signal));
      if (watcher.ended !== undefined) break;
      const answer = answerRange(range, positionOf(watcher.place));
      if (answer.kind === "gap") {
        const gap = await untilEnded(watcher, (signal) =>
          deps.completeGap(thread, answer, watcher.place, signal),
        );
        if (gap === undefined) break;
        yield gap;
      } else if (answer.kind === "deleted") yield answer;
      if (answer.kind !== "entries") return undefined;
      join(topics, topic, watcher, answer, watcher.place.seq);
      if (answer.entries.length > 0) yield answer;
    }
    if (watcher.ended === "closing") {
      throw new ThroughlineError("shutting_down", "This instance is shutting down; connect again.");
    }
    return undefined;
  } finally {
    topics.leave(topic, watcher);
    done();
  }
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
