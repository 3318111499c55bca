import { createSimulatedClock, type LogEntry } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { newThread, note, textOf } from "../conformance/log-scene.js";
import { threadDigest, wakeTag } from "../thread-ref.js";
import { encodeEnvelope } from "./entries.js";
import { createTopics, type TopicRead } from "./fan-out.js";
import type { EntriesWake, StoredRange } from "./log-store.js";
import { beginJoin, createWatcher, takeBuffered } from "./tail-buffer.js";

const thread = newThread();
const wake = { kind: "threads", tags: [wakeTag(thread)] } as const;

function entry(seq: number): LogEntry {
  return { epoch: "e", seq, envelope: note(thread, `${seq}`) };
}

function range(head: number): StoredRange {
  const entries = Array.from({ length: head }, (_, i) => ({
    seq: i + 1,
    text: encodeEnvelope(entry(i + 1).envelope).text,
  }));
  return { epoch: "e", head, floor: 1, deleted: false, entries };
}

/** Topics over a log whose reads are answered by hand, and two watchers that have read it while it was empty. */
function scene() {
  const reads: { asked: readonly TopicRead[]; answer: (range: StoredRange) => void }[] = [];
  const clock = createSimulatedClock();
  const topics = createTopics({
    clock,
    pollEveryMs: 10_000,
    read: (asked) =>
      new Promise((resolve) => {
        reads.push({ asked, answer: (found) => resolve(asked.map(() => found)) });
      }),
  });
  const watchers = [
    createWatcher({ epoch: "e", seq: 0 }, 8),
    createWatcher({ epoch: "e", seq: 0 }, 8),
  ] as const;
  const [first, second] = watchers;
  const topic = topics.join(thread, first);
  topics.join(thread, second);
  watchers.forEach(beginJoin);
  return { clock, topics, topic, first, second, reads };
}

const turns = () => new Promise(setImmediate);

/** What another instance has committed, as a bus tells it. */
function heard(...seqs: readonly number[]): EntriesWake {
  const texts = seqs.map((seq) => encodeEnvelope(entry(seq).envelope).text);
  const [first = 0] = seqs;
  const digest = threadDigest(thread);
  return { kind: "entries", digest, epoch: "e", first, count: seqs.length, texts: () => texts };
}

describe("topics", () => {
  it("lets each watcher read for itself where compaction has made seqs jump, and does not read for ever", async () => {
    for (const compacted of [{}, { resumeAt: 0 }]) {
      const { topics, topic, first, reads } = scene();
      topics.goLive(topic, first);
      topics.wake(wake);
      await turns();
      const whole = range(5);
      reads[0]?.answer({ ...whole, compacted: 5, entries: whole.entries.slice(3), ...compacted });
      await turns();
      expect(reads).toHaveLength(1);
      expect(first.mode).toBe("behind");
      expect(takeBuffered(first)).toEqual([]);
    }
  });

  it("reads on for a watcher that joins, when another instance's wake-up came before our own commit's answer", async () => {
    const { topics, topic, first, reads } = scene();
    topics.wake(wake);
    topics.feed(thread, [entry(1)]);
    topics.goLive(topic, first);
    await turns();
    reads[0]?.answer(range(2));
    await turns();
    expect(takeBuffered(first).map(textOf)).toEqual(["1", "2"]);
  });

  it("reads on for a watcher that joins, when the one that was served leaves during the read", async () => {
    const { topics, topic, first, second, reads } = scene();
    topics.goLive(topic, first);
    topics.wake(wake);
    await turns();
    topics.leave(topic, first);
    reads[0]?.answer(range(1));
    await turns();
    topics.goLive(topic, second);
    await turns();
    reads[1]?.answer(range(1));
    await turns();
    expect(takeBuffered(second).map(textOf)).toEqual(["1"]);
  });

  it("does not take a watcher for live whose kept entries end before what others were served", async () => {
    const { topics, topic, first, second } = scene();
    topics.feed(thread, [entry(1)]);
    topics.wake(wake);
    first.place = { epoch: "e", seq: 3 };
    topics.goLive(topic, first);
    topics.goLive(topic, second);
    expect(second.mode).toBe("behind");
  });

  it("does not keep entries for a joining watcher that do not follow what it keeps", async () => {
    const { topics, topic, first, second } = scene();
    topics.feed(thread, [entry(1)]);
    topics.wake(wake);
    first.place = { epoch: "e", seq: 3 };
    topics.goLive(topic, first);
    topics.feed(thread, [entry(4)]);
    topics.goLive(topic, second);
    expect(second.mode).toBe("behind");
    expect(takeBuffered(first).map(textOf)).toEqual(["4"]);
  });

  it("reads once for all wake-ups that arrive while it reads", async () => {
    const { topics, topic, first, reads } = scene();
    topics.goLive(topic, first);
    for (let i = 0; i < 10; i++) topics.wake(wake);
    await turns();
    for (let i = 0; i < 10; i++) topics.wake(wake);
    await turns();
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(1));
    await turns();
    expect(reads).toHaveLength(2);
    expect(reads[1]?.asked[0]?.place).toEqual({ epoch: "e", seq: 1 });
  });

  it("sends every watcher back to the log when a read fails, so that each can tell its own consumer", async () => {
    const read = () => Promise.reject(new Error("not readable"));
    const topics = createTopics({ clock: createSimulatedClock(), pollEveryMs: 10_000, read });
    const watcher = createWatcher({ epoch: "e", seq: 0 }, 8);
    const topic = topics.join(thread, watcher);
    beginJoin(watcher);
    topics.goLive(topic, watcher);
    topics.wake(wake);
    await turns();
    expect(watcher.mode).toBe("behind");
  });

  it("reads what is watched live at intervals, because a wake-up may be lost", async () => {
    const { clock, topics, topic, first, reads } = scene();
    topics.goLive(topic, first);
    clock.advance(12_000);
    await turns();
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(2));
    await turns();
    expect(takeBuffered(first).map(textOf)).toEqual(["1", "2"]);
    clock.advance(12_000);
    await turns();
    expect(reads[1]?.asked[0]?.place).toEqual({ epoch: "e", seq: 2 });
  });

  it("polls nothing when there is no watcher, and nothing after it was closed", async () => {
    const { clock, topics, topic, first, second } = scene();
    expect(clock.pending()).toBe(1);
    topics.leave(topic, first);
    topics.leave(topic, second);
    expect(clock.pending()).toBe(0);
    topics.join(thread, first);
    expect(clock.pending()).toBe(1);
    topics.close();
    expect(clock.pending()).toBe(0);
  });

  it("forgets a thread with its last watcher", () => {
    const { topics, topic, first, second } = scene();
    topics.leave(topic, first);
    expect([...topics.watchers()]).toEqual([second]);
    topics.leave(topic, second);
    expect([...topics.watchers()]).toEqual([]);
  });

  it("serves what a bus brings without a read, once, however often it comes", async () => {
    const { topics, topic, first, reads } = scene();
    topics.goLive(topic, first);
    topics.wake(heard(1, 2));
    topics.wake(heard(1, 2));
    topics.wake(heard(2, 3));
    await turns();
    expect(takeBuffered(first).map(textOf)).toEqual(["1", "2", "3"]);
    expect(reads).toHaveLength(0);
  });

  it("reads the log where a bus has left something out, or brought too little to serve", async () => {
    for (const wakes of [
      [heard(2)],
      [{ ...heard(1, 2), count: 0 }],
      [{ ...heard(1, 2), texts: () => ["{"] }],
    ]) {
      const { topics, topic, first, reads } = scene();
      topics.goLive(topic, first);
      for (const each of wakes) topics.wake(each);
      await turns();
      reads[0]?.answer(range(2));
      await turns();
      expect(takeBuffered(first).map(textOf)).toEqual(["1", "2"]);
    }
  });

  it("serves nothing that a bus brings of an epoch which the log has not named", async () => {
    const { topics, topic, first, second, reads } = scene();
    topics.goLive(topic, first);
    topics.wake({ ...heard(1), epoch: "of a copy" });
    await turns();
    expect(takeBuffered(first)).toEqual([]);
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(0));
    await turns();
    expect(first.mode).toBe("live");

    topics.leave(topic, first);
    topics.leave(topic, second);
    const early = createWatcher(undefined, 8);
    const before = topics.join(thread, early);
    beginJoin(early);
    topics.wake(heard(1));
    topics.goLive(before, early);
    topics.wake(heard(1));
    expect(takeBuffered(early)).toEqual([]);
    await turns();
    reads[1]?.answer(range(1));
    await turns();
    expect(takeBuffered(early).map(textOf)).toEqual(["1"]);
  });

  it("does not even parse what a bus brings for a thread that has no subscriber here", () => {
    const { topics, topic, first, second } = scene();
    const unread = { ...heard(1), texts: () => expect.unreachable() };
    topics.wake({ ...unread, digest: threadDigest(newThread()) });
    topics.leave(topic, first);
    topics.leave(topic, second);
    topics.wake(unread);
  });
});
