import type { Clock, LogEntry, Timer } from "@throughline/ai-core";
import { type ThreadRef, threadDigest, threadKey, threadTag } from "../thread-ref.js";
import { decodeEntry } from "./entries.js";
import type { EntriesWake, StoredRange, Wake } from "./log-store.js";
import {
  after,
  bufferEntries,
  detachSlow,
  drainBySeq,
  dropBuffered,
  lastSeq,
  type TailBuffer,
  type TailPosition,
} from "./tail-buffer.js";

/** A thread with subscribers on this instance. */
export interface ThreadFeed {
  readonly key: string;
  readonly tag: string;
  readonly digest: string;
  readonly thread: ThreadRef;
  readonly buffers: Set<TailBuffer>;
  /** Position up to which live subscribers were served. Set whenever there is one. */
  position: TailPosition | undefined;
  /** A wake-up came while no subscriber was live: the next one to go live reads on, whatever else was received since. */
  missed: boolean;
}

export interface FanOut {
  join(thread: ThreadRef, buffer: TailBuffer): ThreadFeed;
  /** Makes a subscriber live whose read reached the end of the log. Where something may have been missed, it reads again. */
  goLive(feed: ThreadFeed, buffer: TailBuffer): void;
  leave(feed: ThreadFeed, buffer: TailBuffer): void;
  /** Serves entries that this instance has just committed, from memory, without reading them back. */
  publish(thread: ThreadRef, entries: readonly LogEntry[]): void;
  wake(wake: Wake): void;
  buffers(): Iterable<TailBuffer>;
  /** Ends polling. */
  close(): void;
}

export interface FanOutOptions {
  /** Reads one range per request. Waits while the store is away. */
  readonly read: (requests: readonly FeedRead[]) => Promise<readonly (StoredRange | undefined)[]>;
  readonly clock: Clock;
  /** While there are subscribers, everything they watch is read this often: a wake-up is a hint, and may be lost. */
  readonly pollEveryMs: number;
}

export interface FeedRead {
  readonly feed: ThreadFeed;
  readonly position: TailPosition;
}

/** The most threads of one catch-up read. */
const FEEDS_PER_READ = 256;

/** Spreads the polls of instances that were started together, as a part of the interval. */
const POLL_JITTER = 0.2;

/**
 * Delivers commits to all subscribers of an instance. A wake-up costs one read for all threads it names, shared by all their
 * subscribers; a commit of our own costs none.
 */
export function createFanOut({ read, clock, pollEveryMs }: FanOutOptions): FanOut {
  const feeds = new Map<string, ThreadFeed>();
  /** Lists, because tags are hardly ever shared and a set of one costs three times as much. */
  const byTag = new Map<string, readonly ThreadFeed[]>();
  const byDigest = new Map<string, ThreadFeed>();
  const stale = new Set<ThreadFeed>();
  let refreshing = false;
  let poll: Timer | undefined;
  let closed = false;

  function schedulePoll(): void {
    const delay = pollEveryMs * (1 + POLL_JITTER * (2 * Math.random() - 1));
    poll = clock.schedule(delay, () => {
      poll = undefined;
      for (const feed of feeds.values()) if (hasLive(feed)) refresh(feed);
      schedulePoll();
    });
  }

  function join(thread: ThreadRef, buffer: TailBuffer): ThreadFeed {
    const key = threadKey(thread);
    let feed = feeds.get(key);
    if (!feed) {
      const names = { key, tag: threadTag(thread), digest: threadDigest(thread) };
      feed = { ...names, thread, buffers: new Set(), position: undefined, missed: false };
      feeds.set(key, feed);
      byDigest.set(feed.digest, feed);
      byTag.set(feed.tag, [...(byTag.get(feed.tag) ?? []), feed]);
    }
    feed.buffers.add(buffer);
    if (poll === undefined && !closed) schedulePoll();
    return feed;
  }

  function stopPolling(): void {
    poll?.cancel();
    poll = undefined;
  }

  function leave(feed: ThreadFeed, buffer: TailBuffer): void {
    feed.buffers.delete(buffer);
    if (feed.buffers.size > 0 || feeds.get(feed.key) !== feed) return;
    feeds.delete(feed.key);
    byDigest.delete(feed.digest);
    if (feeds.size === 0) stopPolling();
    stale.delete(feed);
    const sharers = byTag.get(feed.tag)?.filter((other) => other !== feed) ?? [];
    if (sharers.length > 0) byTag.set(feed.tag, sharers);
    else byTag.delete(feed.tag);
  }

  function goLive(feed: ThreadFeed, buffer: TailBuffer): void {
    const { position } = feed;
    if (buffer.overflowed) {
      markBehind(buffer);
    } else if (
      position?.epoch === buffer.position.epoch &&
      position !== undefined &&
      isCaughtUp(buffer, position)
    ) {
      if (position.seq < buffer.position.seq && !hasLive(feed)) feed.position = buffer.position;
      buffer.mode = "live";
      catchUp(feed, feed.missed);
    } else if (!hasLive(feed)) {
      // No other subscriber is served, so the feed begins at this one's position; commits it was notified of since are read from
      // there.
      dropBuffered(buffer);
      feed.position = buffer.position;
      buffer.mode = "live";
      catchUp(feed, feed.missed || position !== undefined);
    } else {
      markBehind(buffer);
      if (position?.epoch !== buffer.position.epoch) refresh(feed);
    }
  }

  function catchUp(feed: ThreadFeed, due: boolean): void {
    feed.missed = false;
    if (due) refresh(feed);
  }

  function publish(thread: ThreadRef, entries: readonly LogEntry[]): void {
    const feed = feeds.get(threadKey(thread));
    if (feed) serve(feed, entries);
  }

  function serve(feed: ThreadFeed, entries: readonly LogEntry[]): void {
    const first = entries[0];
    if (!first) return;
    const { position } = feed;
    if (position === undefined) {
      deliver(feed, entries);
    } else if (position.epoch !== first.epoch && !(position.epoch === undefined && position.seq === 0)) {
      rewind(feed);
    } else if (first.seq > position.seq + 1) {
      refresh(feed);
    } else {
      deliver(feed, after(entries, position.seq));
    }
  }

  function deliver(feed: ThreadFeed, entries: readonly LogEntry[]): void {
    const last = entries.at(-1);
    if (!last) return;
    feed.position = { epoch: last.epoch, seq: last.seq };
    for (const buffer of feed.buffers) bufferEntries(buffer, entries);
  }

  function wake(wake: Wake): void {
    switch (wake.kind) {
      case "all":
        for (const feed of feeds.values()) touch(feed);
        break;
      case "threads":
        for (const tag of wake.tags) for (const feed of byTag.get(tag) ?? []) touch(feed);
        break;
      case "entries":
        receive(wake);
    }
  }

  /**
   * Serves entries that another instance has committed, and only in an epoch that the database has named: a bus may be shared
   * with a copy of the database. Texts are parsed only for a thread that has a subscriber here.
   */
  function receive(received: EntriesWake): void {
    const feed = byDigest.get(received.digest);
    // A subscriber that is behind finds the entries when it reads.
    if (!feed || !hasOneNotBehind(feed)) return;
    const { position } = feed;
    const { epoch, first, count } = received;
    if (position?.epoch === epoch && count > 0 && first + count - 1 <= position.seq) return;
    const follows = position === undefined || (position.epoch === epoch && first <= position.seq + 1);
    const entries = follows ? decodeReceived(received) : undefined;
    if (entries) serve(feed, entries);
    else touch(feed);
  }

  function touch(feed: ThreadFeed): void {
    if (feed.position !== undefined && hasLive(feed)) refresh(feed);
    else postpone(feed);
  }

  /** Leaves the reading to the next subscriber that goes live, because none is served now. */
  function postpone(feed: ThreadFeed): void {
    feed.position = undefined;
    feed.missed = true;
  }

  function refresh(feed: ThreadFeed): void {
    stale.add(feed);
    if (refreshing) return;
    refreshing = true;
    void refreshAll();
  }

  /** One at a time: wake-ups that arrive during a read join the next one. */
  async function refreshAll(): Promise<void> {
    // Wake-ups of one turn share a read.
    await Promise.resolve();
    while (stale.size > 0) {
      const reads: FeedRead[] = [];
      for (const feed of stale) {
        if (reads.length === FEEDS_PER_READ) break;
        stale.delete(feed);
        if (feed.position && hasLive(feed)) reads.push({ feed, position: feed.position });
        else postpone(feed);
      }
      if (reads.length === 0) continue;
      try {
        const ranges = await read(reads);
        reads.forEach(({ feed }, index) => {
          applyRange(feed, ranges[index]);
        });
      } catch {
        // Each subscriber then reads for itself and reports the failure to its own consumer.
        for (const { feed } of reads) rewind(feed);
      }
    }
    refreshing = false;
  }

  function applyRange(feed: ThreadFeed, range: StoredRange | undefined): void {
    const { position } = feed;
    // The last live subscriber left during the read; one that is joining may have read before what this read found.
    if (position === undefined || !hasLive(feed)) {
      postpone(feed);
      return;
    }
    if (range === undefined) {
      if (position.epoch !== undefined) rewind(feed);
      return;
    }
    const sameLog = position.epoch === range.epoch || (position.epoch === undefined && position.seq === 0);
    // Compacted since: seqs jump, so that each subscriber has to find its own way on.
    const jumps = range.resumeAt !== undefined || (range.entries[0]?.seq ?? 0) > position.seq + 1;
    if (!sameLog || range.floor > position.seq + 1 || jumps) {
      rewind(feed);
      return;
    }
    const { epoch } = range;
    // The thread was opened, and nothing is in it yet.
    if (position.epoch === undefined && range.head === 0) feed.position = { epoch, seq: 0 };
    serve(
      feed,
      range.entries.filter(({ seq }) => seq > position.seq).map((entry) => decodeEntry(epoch, entry)),
    );
    if (feed.position === undefined || feed.position.seq >= range.head) return;
    if (range.entries.length === 0) rewind(feed);
    else stale.add(feed);
  }

  /** Sends every subscriber back to the log after another epoch or a trimmed past: each finds out for itself what to report. */
  function rewind(feed: ThreadFeed): void {
    feed.position = undefined;
    feed.missed = false;
    for (const buffer of feed.buffers) detachSlow(buffer);
  }

  return {
    join,
    goLive,
    leave,
    publish,
    wake,
    *buffers() {
      for (const feed of feeds.values()) yield* feed.buffers;
    },
    close() {
      closed = true;
      stopPolling();
    },
  };
}

function markBehind(buffer: TailBuffer): void {
  buffer.mode = "behind";
  buffer.overflowed = false;
  dropBuffered(buffer);
}

/** Stops at the first live subscriber, which is nearly always the first one. */
function hasLive(feed: ThreadFeed): boolean {
  for (const buffer of feed.buffers) if (buffer.mode === "live") return true;
  return false;
}

/** Decodes the entries of a wake-up. `undefined` where it carries none, or none that can be read. */
function decodeReceived({ epoch, first, count, texts }: EntriesWake): readonly LogEntry[] | undefined {
  if (count === 0) return undefined;
  try {
    return texts().map((text, index) => decodeEntry(epoch, { seq: first + index, text }));
  } catch {
    return undefined;
  }
}

function hasOneNotBehind(feed: ThreadFeed): boolean {
  for (const { mode } of feed.buffers) if (mode !== "behind") return true;
  return false;
}

/** Whether the subscriber's read and its buffer reach as far as what others were served. */
function isCaughtUp(buffer: TailBuffer, position: TailPosition): boolean {
  return drainBySeq(buffer) && lastSeq(buffer) >= position.seq;
}
