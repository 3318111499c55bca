import type { Clock, LogEntry, Timer } from "@throughline/ai-core";
import { type ThreadRef, threadDigest, threadKey, wakeTag } from "../thread-ref.js";
import { decodeEntry } from "./entries.js";
import type { EntriesWake, StoredRange, Wake } from "./log-store.js";
import {
  after,
  drainBySeq,
  dropBuffered,
  fallBehind,
  keepFor,
  lastSeq,
  type Place,
  type Watcher,
} from "./tail-buffer.js";

/** A thread with subscribers on this instance. */
export interface Topic {
  readonly key: string;
  readonly tag: string;
  readonly digest: string;
  readonly thread: ThreadRef;
  readonly watchers: Set<Watcher>;
  /** Up to where live watchers were served. Known whenever there is one. */
  place: Place | undefined;
  /** A wake-up came while no subscriber was live: the next one to go live reads on, whatever else was heard since. */
  missed: boolean;
}

export interface Topics {
  join(thread: ThreadRef, watcher: Watcher): Topic;
  /** After a read that reached the end of the log: live if nothing can have been missed, else the watcher reads again. */
  goLive(topic: Topic, watcher: Watcher): void;
  leave(topic: Topic, watcher: Watcher): void;
  /** Entries this instance has just committed: they are served from memory, without reading them back. */
  feed(thread: ThreadRef, entries: readonly LogEntry[]): void;
  wake(wake: Wake): void;
  watchers(): Iterable<Watcher>;
  /** Ends polling. */
  close(): void;
}

export interface TopicsOptions {
  /** One answer per request. Waits while the store is away. */
  readonly read: (requests: readonly TopicRead[]) => Promise<readonly (StoredRange | undefined)[]>;
  readonly clock: Clock;
  /** While there are watchers, everything they watch is read this often: a wake-up is a hint, and may be lost. */
  readonly pollEveryMs: number;
}

export interface TopicRead {
  readonly topic: Topic;
  readonly place: Place;
}

/** How many threads one catch-up read asks for at most. */
const TOPICS_PER_READ = 256;

/** Spreads the polls of instances that were started together, as a part of the interval. */
const POLL_JITTER = 0.2;

/**
 * One map for all watchers of an instance. A wake-up costs one read for all threads it names, shared by all their watchers;
 * a commit of our own costs none.
 */
export function createTopics({ read, clock, pollEveryMs }: TopicsOptions): Topics {
  const topics = new Map<string, Topic>();
  /** Lists, because tags are hardly ever shared and a set of one costs three times as much. */
  const byTag = new Map<string, readonly Topic[]>();
  const byDigest = new Map<string, Topic>();
  const stale = new Set<Topic>();
  let refreshing = false;
  let poll: Timer | undefined;
  let closed = false;

  function schedulePoll(): void {
    const delay = pollEveryMs * (1 + POLL_JITTER * (2 * Math.random() - 1));
    poll = clock.schedule(delay, () => {
      poll = undefined;
      for (const topic of topics.values()) if (hasLive(topic)) refresh(topic);
      schedulePoll();
    });
  }

  function join(thread: ThreadRef, watcher: Watcher): Topic {
    const key = threadKey(thread);
    let topic = topics.get(key);
    if (!topic) {
      const names = { key, tag: wakeTag(thread), digest: threadDigest(thread) };
      topic = { ...names, thread, watchers: new Set(), place: undefined, missed: false };
      topics.set(key, topic);
      byDigest.set(topic.digest, topic);
      byTag.set(topic.tag, [...(byTag.get(topic.tag) ?? []), topic]);
    }
    topic.watchers.add(watcher);
    if (poll === undefined && !closed) schedulePoll();
    return topic;
  }

  function stopPolling(): void {
    poll?.cancel();
    poll = undefined;
  }

  function leave(topic: Topic, watcher: Watcher): void {
    topic.watchers.delete(watcher);
    if (topic.watchers.size > 0 || topics.get(topic.key) !== topic) return;
    topics.delete(topic.key);
    byDigest.delete(topic.digest);
    if (topics.size === 0) stopPolling();
    stale.delete(topic);
    const sharers = byTag.get(topic.tag)?.filter((other) => other !== topic) ?? [];
    if (sharers.length > 0) byTag.set(topic.tag, sharers);
    else byTag.delete(topic.tag);
  }

  function goLive(topic: Topic, watcher: Watcher): void {
    const { place } = topic;
    if (watcher.overflowed) {
      standBehind(watcher);
    } else if (place?.epoch === watcher.place.epoch && place !== undefined && keepsUp(watcher, place)) {
      if (place.seq < watcher.place.seq && !hasLive(topic)) topic.place = watcher.place;
      watcher.mode = "live";
      catchUp(topic, topic.missed);
    } else if (!hasLive(topic)) {
      // No other subscriber is served, so the topic begins where this one stands; what it was told of meanwhile is read from there.
      dropBuffered(watcher);
      topic.place = watcher.place;
      watcher.mode = "live";
      catchUp(topic, topic.missed || place !== undefined);
    } else {
      standBehind(watcher);
      if (place?.epoch !== watcher.place.epoch) refresh(topic);
    }
  }

  function catchUp(topic: Topic, due: boolean): void {
    topic.missed = false;
    if (due) refresh(topic);
  }

  function feed(thread: ThreadRef, entries: readonly LogEntry[]): void {
    const topic = topics.get(threadKey(thread));
    if (topic) serve(topic, entries);
  }

  function serve(topic: Topic, entries: readonly LogEntry[]): void {
    const first = entries[0];
    if (!first) return;
    const { place } = topic;
    if (place === undefined) {
      deliver(topic, entries);
    } else if (place.epoch !== first.epoch && !(place.epoch === undefined && place.seq === 0)) {
      rewind(topic);
    } else if (first.seq > place.seq + 1) {
      refresh(topic);
    } else {
      deliver(topic, after(entries, place.seq));
    }
  }

  function deliver(topic: Topic, entries: readonly LogEntry[]): void {
    const last = entries.at(-1);
    if (!last) return;
    topic.place = { epoch: last.epoch, seq: last.seq };
    for (const watcher of topic.watchers) keepFor(watcher, entries);
  }

  function wake(wake: Wake): void {
    switch (wake.kind) {
      case "all":
        for (const topic of topics.values()) touch(topic);
        break;
      case "threads":
        for (const tag of wake.tags) for (const topic of byTag.get(tag) ?? []) touch(topic);
        break;
      case "entries":
        hear(wake);
    }
  }

  /**
   * Entries that another instance has committed. They are served only in an epoch that the database has named: a bus may be
   * shared with a copy of it. Texts are parsed only for a thread that is subscribed to here.
   */
  function hear(heard: EntriesWake): void {
    const topic = byDigest.get(heard.digest);
    // One that is behind finds them when it reads.
    if (!topic || !hasOneNotBehind(topic)) return;
    const { place } = topic;
    const { epoch, first, count } = heard;
    if (place?.epoch === epoch && count > 0 && first + count - 1 <= place.seq) return;
    const follows = place === undefined || (place.epoch === epoch && first <= place.seq + 1);
    const entries = follows ? decodeHeard(heard) : undefined;
    if (entries) serve(topic, entries);
    else touch(topic);
  }

  function touch(topic: Topic): void {
    if (topic.place !== undefined && hasLive(topic)) refresh(topic);
    else postpone(topic);
  }

  /** No subscriber is served: what there is to read is left to the next one that goes live. */
  function postpone(topic: Topic): void {
    topic.place = undefined;
    topic.missed = true;
  }

  function refresh(topic: Topic): void {
    stale.add(topic);
    if (refreshing) return;
    refreshing = true;
    void refreshAll();
  }

  /** One at a time: wake-ups that arrive during a read join the next one. */
  async function refreshAll(): Promise<void> {
    // Wake-ups of one turn share a read.
    await Promise.resolve();
    while (stale.size > 0) {
      const reads: TopicRead[] = [];
      for (const topic of stale) {
        if (reads.length === TOPICS_PER_READ) break;
        stale.delete(topic);
        if (topic.place && hasLive(topic)) reads.push({ topic, place: topic.place });
        else postpone(topic);
      }
      if (reads.length === 0) continue;
      try {
        const ranges = await read(reads);
        reads.forEach(({ topic }, index) => {
          settle(topic, ranges[index]);
        });
      } catch {
        // Each watcher then reads for itself and tells its own consumer what is wrong.
        for (const { topic } of reads) rewind(topic);
      }
    }
    refreshing = false;
  }

  function settle(topic: Topic, range: StoredRange | undefined): void {
    const { place } = topic;
    // The last live watcher left during the read; one that is joining may have read before what this read found.
    if (place === undefined || !hasLive(topic)) {
      postpone(topic);
      return;
    }
    if (range === undefined) {
      if (place.epoch !== undefined) rewind(topic);
      return;
    }
    const sameLog = place.epoch === range.epoch || (place.epoch === undefined && place.seq === 0);
    // Compacted since: seqs jump, so that each watcher has to find its own way on.
    const jumps = range.resumeAt !== undefined || (range.entries[0]?.seq ?? 0) > place.seq + 1;
    if (!sameLog || range.floor > place.seq + 1 || jumps) {
      rewind(topic);
      return;
    }
    const { epoch } = range;
    // The thread was opened, and nothing is in it yet.
    if (place.epoch === undefined && range.head === 0) topic.place = { epoch, seq: 0 };
    serve(
      topic,
      range.entries.filter(({ seq }) => seq > place.seq).map((entry) => decodeEntry(epoch, entry)),
    );
    if (topic.place === undefined || topic.place.seq >= range.head) return;
    if (range.entries.length === 0) rewind(topic);
    else stale.add(topic);
  }

  /** Something is not as it was (another epoch, a trimmed past): every watcher finds out for itself what to say about it. */
  function rewind(topic: Topic): void {
    topic.place = undefined;
    topic.missed = false;
    for (const watcher of topic.watchers) fallBehind(watcher);
  }

  return {
    join,
    goLive,
    leave,
    feed,
    wake,
    *watchers() {
      for (const topic of topics.values()) yield* topic.watchers;
    },
    close() {
      closed = true;
      stopPolling();
    },
  };
}

function standBehind(watcher: Watcher): void {
  watcher.mode = "behind";
  watcher.overflowed = false;
  dropBuffered(watcher);
}

/** Stops at the first live watcher, which is nearly always the first one. */
function hasLive(topic: Topic): boolean {
  for (const watcher of topic.watchers) if (watcher.mode === "live") return true;
  return false;
}

/** `undefined` where there are none, or none that can be read. */
function decodeHeard({ epoch, first, count, texts }: EntriesWake): readonly LogEntry[] | undefined {
  if (count === 0) return undefined;
  try {
    return texts().map((text, index) => decodeEntry(epoch, { seq: first + index, text }));
  } catch {
    return undefined;
  }
}

function hasOneNotBehind(topic: Topic): boolean {
  for (const { mode } of topic.watchers) if (mode !== "behind") return true;
  return false;
}

/** Whether the watcher's read and what was kept for it reach as far as what others were served. */
function keepsUp(watcher: Watcher, place: Place): boolean {
  return drainBySeq(watcher) && lastSeq(watcher) >= place.seq;
}
