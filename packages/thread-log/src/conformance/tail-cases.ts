import { expect } from "vitest";
import type { LogStore } from "../log/log-store.js";
import {
  fenceOf,
  type LogCase,
  newThread,
  nextEvent,
  note,
  notes,
  take,
  textsOf,
  write,
} from "./log-scene.js";

export const tailCases: readonly LogCase[] = [
  {
    name: "a tail gives what was, then what comes",
    async run({ log, thread }) {
      await write(log, thread, ["a", "b"]);
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      expect(textsOf(await take(tail, 2))).toEqual(["a", "b"]);
      await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
      expect(textsOf(await take(tail, 1))).toEqual(["c"]);
      await tail.return?.();
    },
  },
  {
    name: "a tail on another instance sees every entry once, in order",
    async run({ log, another, thread }) {
      const other = await another();
      await write(log, thread, ["start"]);
      const tail = other.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(tail, 1);
      const expected = Array.from({ length: 200 }, (_, i) => `${i}`);
      const seen = take(tail, expected.length);
      for (const text of expected) await log.append(thread, notes(thread, text), fenceOf(thread, 1));
      const entries = await seen;
      expect(textsOf(entries)).toEqual(expected);
      expect(entries.map(({ seq }) => seq)).toEqual(expected.map((_, i) => i + 2));
      await tail.return?.();
    },
  },
  {
    name: "a tail waits for a thread that does not exist yet",
    async run({ log, another, thread }) {
      const other = await another();
      const here = log.tail(thread, undefined)[Symbol.asyncIterator]();
      const there = other.tail(thread, undefined)[Symbol.asyncIterator]();
      const both = Promise.all([take(here, 1), take(there, 1)]);
      await write(log, thread, ["first"]);
      expect((await both).map(textsOf)).toEqual([["first"], ["first"]]);
      await Promise.all([here.return?.(), there.return?.()]);
    },
  },
  {
    name: "a tail resumes right after its cursor, on any instance",
    async run({ log, another, thread }) {
      await write(log, thread, ["a", "b", "c", "d"]);
      const other = await another();
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      const [, second] = await take(tail, 4);
      await tail.return?.();
      const resumed = other.tail(thread, second)[Symbol.asyncIterator]();
      expect(textsOf(await take(resumed, 2))).toEqual(["c", "d"]);
      await resumed.return?.();
    },
  },
  {
    name: "a joining tail and a live writer lose nothing to each other",
    async run({ log, another, thread }) {
      const other = await another();
      await write(log, thread, ["start"]);
      const total = 150;
      let appended = 1;
      const writing = (async () => {
        while (appended < total) {
          await log.append(thread, notes(thread, `${appended}`), fenceOf(thread, 1));
          appended += 1;
        }
      })();
      const joined: Promise<number[]>[] = [];
      while (appended < total - 20 && joined.length < 50) {
        const tail = (joined.length % 2 ? log : other).tail(thread, undefined)[Symbol.asyncIterator]();
        joined.push(
          take(tail, total).then(async (entries) => {
            await tail.return?.();
            return entries.map(({ seq }) => seq);
          }),
        );
        await log.head(thread);
      }
      await writing;
      const whole = Array.from({ length: total }, (_, i) => i + 1);
      for (const seqs of await Promise.all(joined)) expect(seqs).toEqual(whole);
    },
  },
  {
    name: "watchers on the writer's own instance are served without reading the log back",
    async run({ store, over, thread }) {
      let reads = 0;
      const counting: LogStore = {
        ...store,
        read(requests, limit) {
          reads += 1;
          return store.read(requests, limit);
        },
      };
      const log = over(counting);
      await write(log, thread, ["a"]);
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(tail, 1);
      const waiting = nextEvent(tail);
      reads = 0;
      await log.append(thread, notes(thread, "b"), fenceOf(thread, 1));
      expect(await waiting).toMatchObject({ kind: "entries" });
      for (let i = 0; i < 20; i++) await log.append(thread, notes(thread, `${i}`), fenceOf(thread, 1));
      expect(textsOf(await take(tail, 20))).toHaveLength(20);
      expect(reads).toBe(0);
      await tail.return?.();
    },
  },
  {
    name: "a slow watcher falls back to reading the log, loses nothing and holds up nobody",
    async run({ log, thread }) {
      await write(log, thread, ["start"]);
      const slow = log.tail(thread, undefined, { maxBuffered: 4 })[Symbol.asyncIterator]();
      const fast = log.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(slow, 1);
      await take(fast, 1);
      const texts = Array.from({ length: 40 }, (_, i) => `${i}`);
      const live = take(fast, texts.length);
      for (const text of texts) await log.append(thread, notes(thread, text), fenceOf(thread, 1));
      expect(textsOf(await live)).toEqual(texts);
      expect(textsOf(await take(slow, texts.length))).toEqual(texts);
      await log.append(thread, notes(thread, "after"), fenceOf(thread, 1));
      expect(textsOf(await take(slow, 1))).toEqual(["after"]);
      await Promise.all([slow.return?.(), fast.return?.()]);
    },
  },
  {
    name: "a slow watcher that was trimmed past is told of the gap, and nothing after it",
    async run({ log, thread }) {
      await write(log, thread, ["start"]);
      const slow = log.tail(thread, undefined, { maxBuffered: 2 })[Symbol.asyncIterator]();
      await take(slow, 1);
      for (let i = 0; i < 10; i++) await log.append(thread, notes(thread, `${i}`), fenceOf(thread, 1));
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      await log.trim(thread, { maxEntries: 1 });
      expect(await nextEvent(slow)).toMatchObject({ kind: "gap", reason: "trimmed", head });
      expect(await nextEvent(slow)).toBeUndefined();
    },
  },
  {
    name: "a live watcher does not notice that the past is trimmed",
    async run({ log, another, thread }) {
      const other = await another();
      await write(log, thread, ["a", "b", "c"]);
      const tails = [log, other].map((each) => each.tail(thread, undefined)[Symbol.asyncIterator]());
      await Promise.all(tails.map((tail) => take(tail, 3)));
      const waiting = Promise.all(tails.map((tail) => take(tail, 1)));
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      await log.trim(thread, { maxEntries: 1 });
      await log.append(thread, notes(thread, "d"), fenceOf(thread, 1));
      expect((await waiting).map(textsOf)).toEqual([["d"], ["d"]]);
      await Promise.all(tails.map((tail) => tail.return?.()));
    },
  },
  {
    name: "a tail ends quietly by its signal, also while it waits",
    async run({ log, thread }) {
      await write(log, thread, ["a"]);
      const leaving = new AbortController();
      const tail = log.tail(thread, undefined, { signal: leaving.signal })[Symbol.asyncIterator]();
      await take(tail, 1);
      const waiting = nextEvent(tail);
      leaving.abort();
      expect(await waiting).toBeUndefined();
      const late = log.tail(thread, undefined, { signal: leaving.signal })[Symbol.asyncIterator]();
      expect(await nextEvent(late)).toBeUndefined();
    },
  },
  {
    name: "leaving a tail ends it, also while it waits",
    async run({ log, thread }) {
      await write(log, thread, ["a"]);
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(tail, 1);
      const waiting = nextEvent(tail);
      await tail.return?.();
      expect(await waiting).toBeUndefined();
    },
  },
  {
    name: "closing the log ends its tails with shutting_down and refuses appends, and leaves the store to others",
    async run({ store, over, log, thread }) {
      const closing = over(store);
      await write(closing, thread, ["a"]);
      const tail = closing.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(tail, 1);
      const waiting = expect(nextEvent(tail)).rejects.toMatchObject({ code: "shutting_down" });
      const last = closing.append(thread, notes(thread, "last"), fenceOf(thread, 1));
      await closing.close();
      await waiting;
      expect(await last).toMatchObject({ ok: true, first: 2 });
      await expect(closing.append(thread, notes(thread, "late"), fenceOf(thread, 1))).rejects.toMatchObject({
        code: "shutting_down",
      });
      expect(await log.head(thread)).toMatchObject({ seq: 2 });
    },
  },
  {
    name: "a wake-up for one thread wakes the watchers of no other",
    async run({ log, another, thread }) {
      const other = await another();
      const quiet = newThread(thread.account);
      await write(log, thread, ["a"]);
      await write(log, quiet, ["q"]);
      const tails = [thread, quiet].map((each) => other.tail(each, undefined)[Symbol.asyncIterator]());
      await Promise.all(tails.map((tail) => take(tail, 1)));
      const [busy, silent] = tails;
      if (!busy || !silent) return expect.unreachable();
      let heard = false;
      const silence = nextEvent(silent).then(() => {
        heard = true;
      });
      await log.append(thread, [note(thread, "b")], fenceOf(thread, 1));
      expect(textsOf(await take(busy, 1))).toEqual(["b"]);
      expect(heard).toBe(false);
      await Promise.all(tails.map((tail) => tail.return?.()));
      await silence;
    },
  },
  {
    name: "a thread is followed from its snapshot or its beginning, through a deletion that left it empty",
    async run({ log, thread }) {
      await write(log, thread, ["a", "b"]);
      const follow = () => log.follow(thread, { foldVersions: [1] })[Symbol.asyncIterator]();
      const first = follow();
      const loaded = (await first.next()).value;
      if (loaded?.kind !== "loaded") return expect.unreachable();
      expect(textsOf(loaded.entries)).toEqual(["a", "b"]);
      expect(loaded.head).toMatchObject({ seq: 2 });
      await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
      expect(await first.next()).toMatchObject({ value: { kind: "entries", entries: [{ seq: 3 }] } });
      await first.return?.();
      await log.deleteThread(thread);
      const second = follow();
      expect(await second.next()).toMatchObject({ value: { kind: "loaded", entries: [] } });
      const next = second.next();
      const later = 1_000_000_000;
      expect(await log.open(thread, fenceOf(thread, later))).toMatchObject({ ok: true });
      await log.append(thread, notes(thread, "anew"), fenceOf(thread, later));
      const told = (await next).value;
      if (told?.kind !== "entries") return expect.unreachable();
      expect(textsOf(told.entries)).toEqual(["anew"]);
      await second.return?.();
    },
  },
];
