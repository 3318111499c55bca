import { createSimulatedClock, type LogEntry } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { newThread, note, textOf } from "../conformance/log-scene.js";
import { threadDigest, threadTag } from "../thread-ref.js";
import { encodeEnvelope } from "./entries.js";
import { createFanOut, type FeedRead } from "./fan-out.js";
import type { EntriesWake, StoredRange } from "./log-store.js";
import { beginJoin, createTailBuffer, drainBuffered } from "./tail-buffer.js";

const thread = newThread();
const wake = { kind: "threads", tags: [threadTag(thread)] } as const;

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
  const reads: { asked: readonly FeedRead[]; answer: (range: StoredRange) => void }[] = [];
  const clock = createSimulatedClock();
  const fanOut = createFanOut({
    clock,
    pollEveryMs: 10_000,
    read: (asked) =>
      new Promise((resolve) => {
        reads.push({ asked, answer: (found) => resolve(asked.map(() => found)) });
      }),
  });
  const buffers = [
    createTailBuffer({ epoch: "e", seq: 0 }, 8),
    createTailBuffer({ epoch: "e", seq: 0 }, 8),
  ] as const;
  const [first, second] = buffers;
  const feed = fanOut.join(thread, first);
  fanOut.join(thread, second);
  buffers.forEach(beginJoin);
  return { clock, fanOut, feed, first, second, reads };
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
      const { fanOut, feed, first, reads } = scene();
      fanOut.goLive(feed, first);
      fanOut.wake(wake);
      await turns();
      const whole = range(5);
      reads[0]?.answer({ ...whole, compacted: 5, entries: whole.entries.slice(3), ...compacted });
      await turns();
      expect(reads).toHaveLength(1);
      expect(first.mode).toBe("behind");
      expect(drainBuffered(first)).toEqual([]);
    }
  });

  it("reads on for a watcher that joins, when another instance's wake-up came before our own commit's answer", async () => {
    const { fanOut, feed, first, reads } = scene();
    fanOut.wake(wake);
    fanOut.publish(thread, [entry(1)]);
    fanOut.goLive(feed, first);
    await turns();
    reads[0]?.answer(range(2));
    await turns();
    expect(drainBuffered(first).map(textOf)).toEqual(["1", "2"]);
  });

  it("reads on for a watcher that joins, when the one that was served leaves during the read", async () => {
    const { fanOut, feed, first, second, reads } = scene();
    fanOut.goLive(feed, first);
    fanOut.wake(wake);
    await turns();
    fanOut.leave(feed, first);
    reads[0]?.answer(range(1));
    await turns();
    fanOut.goLive(feed, second);
    await turns();
    reads[1]?.answer(range(1));
    await turns();
    expect(drainBuffered(second).map(textOf)).toEqual(["1"]);
  });

  it("does not take a watcher for live whose kept entries end before what others were served", async () => {
    const { fanOut, feed, first, second } = scene();
    fanOut.publish(thread, [entry(1)]);
    fanOut.wake(wake);
    first.position = { epoch: "e", seq: 3 };
    fanOut.goLive(feed, first);
    fanOut.goLive(feed, second);
    expect(second.mode).toBe("behind");
  });

  it("does not keep entries for a joining watcher that do not follow what it keeps", async () => {
    const { fanOut, feed, first, second } = scene();
    fanOut.publish(thread, [entry(1)]);
    fanOut.wake(wake);
    first.position = { epoch: "e", seq: 3 };
    fanOut.goLive(feed, first);
    fanOut.publish(thread, [entry(4)]);
    fanOut.goLive(feed, second);
    expect(second.mode).toBe("behind");
    expect(drainBuffered(first).map(textOf)).toEqual(["4"]);
  });

  it("reads once for all wake-ups that arrive while it reads", async () => {
    const { fanOut, feed, first, reads } = scene();
    fanOut.goLive(feed, first);
    for (let i = 0; i < 10; i++) fanOut.wake(wake);
    await turns();
    for (let i = 0; i < 10; i++) fanOut.wake(wake);
    await turns();
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(1));
    await turns();
    expect(reads).toHaveLength(2);
    expect(reads[1]?.asked[0]?.position).toEqual({ epoch: "e", seq: 1 });
  });

  it("sends every watcher back to the log when a read fails, so that each can tell its own consumer", async () => {
    const read = () => Promise.reject(new Error("not readable"));
    const fanOut = createFanOut({ clock: createSimulatedClock(), pollEveryMs: 10_000, read });
    const buffer = createTailBuffer({ epoch: "e", seq: 0 }, 8);
    const feed = fanOut.join(thread, buffer);
    beginJoin(buffer);
    fanOut.goLive(feed, buffer);
    fanOut.wake(wake);
    await turns();
    expect(buffer.mode).toBe("behind");
  });

  it("reads what is watched live at intervals, because a wake-up may be lost", async () => {
    const { clock, fanOut, feed, first, reads } = scene();
    fanOut.goLive(feed, first);
    clock.advance(12_000);
    await turns();
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(2));
    await turns();
    expect(drainBuffered(first).map(textOf)).toEqual(["1", "2"]);
    clock.advance(12_000);
    await turns();
    expect(reads[1]?.asked[0]?.position).toEqual({ epoch: "e", seq: 2 });
  });

  it("polls nothing when there is no watcher, and nothing after it was closed", async () => {
    const { clock, fanOut, feed, first, second } = scene();
    expect(clock.pending()).toBe(1);
    fanOut.leave(feed, first);
    fanOut.leave(feed, second);
    expect(clock.pending()).toBe(0);
    fanOut.join(thread, first);
    expect(clock.pending()).toBe(1);
    fanOut.close();
    expect(clock.pending()).toBe(0);
  });

  it("forgets a thread with its last watcher", () => {
    const { fanOut, feed, first, second } = scene();
    fanOut.leave(feed, first);
    expect([...fanOut.buffers()]).toEqual([second]);
    fanOut.leave(feed, second);
    expect([...fanOut.buffers()]).toEqual([]);
  });

  it("serves what a bus brings without a read, once, however often it comes", async () => {
    const { fanOut, feed, first, reads } = scene();
    fanOut.goLive(feed, first);
    fanOut.wake(heard(1, 2));
    fanOut.wake(heard(1, 2));
    fanOut.wake(heard(2, 3));
    await turns();
    expect(drainBuffered(first).map(textOf)).toEqual(["1", "2", "3"]);
    expect(reads).toHaveLength(0);
  });

  it("reads the log where a bus has left something out, or brought too little to serve", async () => {
    for (const wakes of [
      [heard(2)],
      [{ ...heard(1, 2), count: 0 }],
      [{ ...heard(1, 2), texts: () => ["{"] }],
    ]) {
      const { fanOut, feed, first, reads } = scene();
      fanOut.goLive(feed, first);
      for (const each of wakes) fanOut.wake(each);
      await turns();
      reads[0]?.answer(range(2));
      await turns();
      expect(drainBuffered(first).map(textOf)).toEqual(["1", "2"]);
    }
  });

  it("serves nothing that a bus brings of an epoch which the log has not named", async () => {
    const { fanOut, feed, first, second, reads } = scene();
    fanOut.goLive(feed, first);
    fanOut.wake({ ...heard(1), epoch: "of a copy" });
    await turns();
    expect(drainBuffered(first)).toEqual([]);
    expect(reads).toHaveLength(1);
    reads[0]?.answer(range(0));
    await turns();
    expect(first.mode).toBe("live");

    fanOut.leave(feed, first);
    fanOut.leave(feed, second);
    const early = createTailBuffer(undefined, 8);
    const before = fanOut.join(thread, early);
    beginJoin(early);
    fanOut.wake(heard(1));
    fanOut.goLive(before, early);
    fanOut.wake(heard(1));
    expect(drainBuffered(early)).toEqual([]);
    await turns();
    reads[1]?.answer(range(1));
    await turns();
    expect(drainBuffered(early).map(textOf)).toEqual(["1"]);
  });

  it("does not even parse what a bus brings for a thread that has no subscriber here", () => {
    const { fanOut, feed, first, second } = scene();
    const unread = { ...heard(1), texts: () => expect.unreachable() };
    fanOut.wake({ ...unread, digest: threadDigest(newThread()) });
    fanOut.leave(feed, first);
    fanOut.leave(feed, second);
    fanOut.wake(unread);
  });
});
