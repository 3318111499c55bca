import { expect } from "vitest";
import { readProjection } from "../log/snapshots.js";
import { eventually } from "./eventually.js";
import {
  fenceOf,
  type LogCase,
  newThread,
  nextEvent,
  notes,
  readAll,
  runEnd,
  take,
  textFold,
  textsOf,
  write,
} from "./log-scene.js";

const LETTERS = ["a", "b", "c", "d", "e", "f"];

export const retentionCases: readonly LogCase[] = [
  {
    name: "R20: keeps the newest snapshot of each fold version and refuses what does not belong to the log",
    async run({ log, thread }) {
      expect(await log.snapshot(thread, [1])).toBeUndefined();
      await write(log, thread, LETTERS);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      const at = (seq: number, foldVersion = 1, epoch = head.epoch) => ({
        position: { epoch, seq },
        foldVersion,
        state: { at: seq, odd: "\u0000" },
      });
      expect(await log.saveSnapshot(thread, at(3))).toBe(true);
      expect(await log.saveSnapshot(thread, at(2))).toBe(false);
      expect(await log.saveSnapshot(thread, at(3))).toBe(false);
      expect(await log.saveSnapshot(thread, at(2, 2))).toBe(true);
      expect(await log.saveSnapshot(thread, at(99))).toBe(false);
      expect(await log.saveSnapshot(thread, at(5, 1, "another"))).toBe(false);
      expect(await log.saveSnapshot(newThread(), at(1))).toBe(false);
      expect(await log.snapshot(thread, [1])).toEqual(at(3));
      expect(await log.snapshot(thread, [2])).toEqual(at(2, 2));
    },
  },
  {
    name: "R20: keeps older snapshots too, so that a cursor of the past costs what was missed and not the thread's length",
    async run({ log, thread }) {
      const [every, length] = [5, 200];
      await write(
        log,
        thread,
        Array.from({ length }, (_, i) => `${i}`),
      );
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      for (let seq = every; seq <= length; seq += every) {
        const position = { epoch: head.epoch, seq };
        expect(await log.saveSnapshot(thread, { position, foldVersion: 1, state: { at: seq } })).toBe(true);
      }
      const found = new Set<number>();
      for (let cursor = 0; cursor <= length; cursor += 3) {
        const snapshot = await log.snapshot(thread, [1], cursor);
        const from = snapshot?.position.seq ?? 0;
        if (snapshot) expect(snapshot.state).toEqual({ at: from });
        expect(from).toBeLessThanOrEqual(cursor);
        expect(cursor - from).toBeLessThanOrEqual(3 * (length - cursor) + every);
        found.add(from);
      }
      expect(found.size).toBeLessThan(10);
      expect(await log.snapshot(thread, [1], length - 1)).toMatchObject({
        position: { seq: length - every },
      });
      expect(await log.snapshot(thread, [2], length)).toBeUndefined();
      expect(await log.trim(thread, { maxEntries: 2 * every })).toMatchObject({
        floor: length - 2 * every + 1,
      });
      expect(await log.snapshot(thread, [1], length - 2 * every - 1)).toBeUndefined();
      expect(await log.snapshot(thread, [1], length - 1)).toMatchObject({
        position: { seq: length - every },
      });
    },
  },
  {
    name: "R20: never trims what no snapshot covers",
    async run({ log, thread }) {
      await write(log, thread, LETTERS);
      expect(await log.trim(thread, { maxEntries: 1 })).toEqual({ dropped: 0, floor: 1 });
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: { ...head, seq: 2 }, foldVersion: 1, state: null });
      expect(await log.trim(thread, { maxEntries: 1 })).toEqual({ dropped: 2, floor: 3 });
      expect(await log.trim(thread, { maxEntries: 1 })).toEqual({ dropped: 0, floor: 3 });
      const answer = await log.read(thread, { ...head, seq: 2 });
      if (answer.kind !== "entries") return expect.unreachable();
      expect(textsOf(answer.entries)).toEqual(["c", "d", "e", "f"]);
    },
  },
  {
    name: "R20: trims by count, by bytes and by age, and a snapshot is made before",
    async run({ another, thread }) {
      const log = await another({ fold: textFold });
      await write(log, thread, LETTERS);
      expect(await log.trim(thread, { maxEntries: 100, maxBytes: 1e9, maxAgeMs: 1e9 })).toMatchObject({
        dropped: 0,
      });
      expect(await log.trim(thread, { maxEntries: 4 })).toEqual({ dropped: 2, floor: 3 });
      const size = Buffer.byteLength(JSON.stringify(notes(thread, "a")[0]));
      expect(await log.trim(thread, { maxBytes: 3 * size })).toEqual({ dropped: 1, floor: 4 });
      // Everything is older than a moment that is still to come, whichever clock says so.
      expect(await log.trim(thread, { maxAgeMs: -60_000 })).toEqual({ dropped: 3, floor: 7 });
      expect(await readProjection(log, textFold, thread)).toMatchObject({
        kind: "folded",
        state: LETTERS,
        position: { seq: 6 },
      });
      await log.append(thread, notes(thread, "g"), fenceOf(thread, 1));
      expect(await readProjection(log, textFold, thread)).toMatchObject({ state: [...LETTERS, "g"] });
    },
  },
  {
    name: "R20: keeps snapshots by itself as a thread grows, so that joining does not cost its whole length",
    async run({ another, thread }) {
      const log = await another({ fold: textFold, snapshots: { everyEntries: 10, everyBytes: 1e9 } });
      await write(log, thread, []);
      const texts = Array.from({ length: 35 }, (_, i) => `${i}`);
      for (const text of texts) await log.append(thread, notes(thread, text), fenceOf(thread, 1));
      await eventually(async () => {
        const snapshot = await log.snapshot(thread, textFold.reads);
        // One that is made late covers more than it was asked for, and the next is due ten entries after that.
        expect(texts.length - (snapshot?.position.seq ?? 0)).toBeLessThan(10);
      });
      expect(await readProjection(log, textFold, thread)).toMatchObject({
        state: texts,
        position: { seq: 35 },
      });
    },
  },
  {
    name: "R20: stays within its bounds by itself as a thread grows",
    async run({ another, thread }) {
      const log = await another({ fold: textFold, retention: { maxEntries: 20 } });
      await write(log, thread, []);
      const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
      for (const text of texts) await log.append(thread, notes(thread, text), fenceOf(thread, 1));
      await eventually(async () => {
        const answer = await log.read(thread, undefined);
        expect(answer).toMatchObject({ kind: "gap", reason: "trimmed" });
      });
      expect(await readProjection(log, textFold, thread)).toMatchObject({ state: texts });
    },
  },
  {
    name: "R20: drops the oldest terminals past their own bound",
    async run({ log, thread }) {
      const fence = fenceOf(thread, 1);
      await log.open(thread, fence);
      await log.append(
        thread,
        ["r1", "r2", "r3"].flatMap((id) => [...notes(thread, id), runEnd(thread, id)]),
        fence,
      );
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      expect(await log.trim(thread, { maxAgeMs: -60_000, maxTerminals: 2 })).toEqual({
        dropped: 4,
        floor: 7,
      });
      expect(await log.terminal(thread, "r1")).toBeUndefined();
      expect(await log.terminal(thread, "r2")).toMatchObject({ seq: 4, envelope: { type: "run_end" } });
      expect(await log.terminal(thread, "r3")).toMatchObject({ seq: 6 });
    },
  },
  {
    name: "tells every watcher that its thread was deleted, on every instance",
    async run({ log, another, thread }) {
      const other = await another();
      await write(log, thread, ["a"]);
      const tails = [log, other].map((each) => each.tail(thread, undefined)[Symbol.asyncIterator]());
      await Promise.all(tails.map((tail) => take(tail, 1)));
      const last = Promise.all(tails.map(nextEvent));
      expect(await log.deleteThread(thread)).toBe(true);
      expect(await last).toEqual([{ kind: "deleted" }, { kind: "deleted" }]);
      expect(await Promise.all(tails.map(nextEvent))).toEqual([undefined, undefined]);
    },
  },
  {
    name: "R19: a deleted thread begins anew in another epoch, and its old cursors say so",
    async run({ log, thread }) {
      await write(log, thread, LETTERS, 3);
      const before = await log.head(thread);
      if (!before) return expect.unreachable();
      await log.saveSnapshot(thread, { position: before, foldVersion: 1, state: null });
      expect(await log.deleteThread(thread)).toBe(true);
      expect(await log.deleteThread(thread)).toBe(false);
      expect(await log.read(thread, before)).toEqual({ kind: "deleted" });
      expect(await log.read(thread, undefined)).toMatchObject({ kind: "entries", entries: [] });
      expect(await log.snapshot(thread, [1])).toBeUndefined();
      await write(log, thread, ["anew"], 1_000_000);
      expect(await readAll(log, thread)).toEqual(["anew"]);
      const after = await log.head(thread);
      expect(after?.seq).toBe(1);
      expect(after?.epoch).not.toBe(before.epoch);
      expect(await log.read(thread, before)).toMatchObject({ kind: "gap", reason: "epoch", head: after });
    },
  },
  {
    name: "R17: a writer that outlived its thread cannot bring it back",
    async run({ log, thread }) {
      await write(log, thread, ["a"], 7);
      await log.deleteThread(thread);
      expect(await log.append(thread, notes(thread, "b"), fenceOf(thread, 7))).toEqual({
        ok: false,
        reason: "deleted",
      });
      expect(await log.open(thread, fenceOf(thread, 7))).toEqual({ ok: false, reason: "deleted" });
      expect(await log.read(thread, undefined)).toMatchObject({ entries: [] });
    },
  },
  {
    name: "lists the threads of one scope by pages, and no other's",
    async run({ log, thread }) {
      const { account } = thread;
      const shared = Array.from({ length: 5 }, () => newThread(account));
      const anns = Array.from({ length: 3 }, () => newThread(account, "ann"));
      for (const each of [...shared, ...anns, newThread(account, "bob"), newThread()]) {
        await log.open(each, fenceOf(each, 1), { stateKey: `chat/${each.threadId}` });
      }
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await log.threads({ account }, { after, limit: 2 });
        seen.push(...page.threads.map(({ stateKey }) => stateKey));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(shared.map(({ threadId }) => `chat/${threadId}`).sort());
      const { threads } = await log.threads({ account, subject: "ann" });
      expect(threads.map(({ thread: ref }) => ref)).toEqual(
        anns.toSorted((a, b) => (a.threadId < b.threadId ? -1 : 1)),
      );
      expect((await log.threads({ account, everySubject: true })).threads).toHaveLength(9);
      expect((await log.threads({ account: `${account}x`, everySubject: true })).threads).toEqual([]);
      await expect(log.threads({ account }, { after: "garbage" })).rejects.toMatchObject({
        code: "invalid_input",
      });
    },
  },
  {
    name: "deletes one subject's threads, or a whole account's, and nobody else's",
    async run({ log, thread }) {
      const { account } = thread;
      const [shared, ann, bob, foreign] = [
        thread,
        newThread(account, "ann"),
        newThread(account, "bob"),
        newThread(),
      ];
      for (const each of [shared, ann, bob, foreign]) await write(log, each, ["a"]);
      expect(await log.deleteAccount(account, "ann")).toBe(1);
      expect(await log.head(bob)).toMatchObject({ seq: 1 });
      expect(await log.deleteAccount(account)).toBe(2);
      expect((await log.threads({ account, everySubject: true })).threads).toEqual([]);
      expect(await readAll(log, foreign)).toEqual(["a"]);
    },
  },
  {
    name: "R20: sweeps whatever time alone has brought over its age, page by page, and nothing else",
    async run({ another, thread }) {
      const log = await another({ fold: textFold });
      const threads = [thread, newThread(), { ...newThread(), subject: "ann" }];
      for (const each of threads) await write(log, each, LETTERS);
      const sweepAll = async (maxAgeMs: number) => {
        let after: string | undefined;
        do {
          ({ next: after } = await log.sweep({ maxAgeMs }, { after, limit: 2 }));
        } while (after !== undefined);
      };
      expect(await log.sweep({ maxEntries: 1 })).toEqual({ dropped: 0, next: undefined });
      await sweepAll(1e9);
      for (const each of threads) expect(await readAll(log, each)).toEqual(LETTERS);
      // Everything is older than a moment that is still to come, whichever clock says so.
      await sweepAll(-60_000);
      for (const each of threads) {
        expect(await log.read(each, undefined)).toMatchObject({ kind: "gap", reason: "trimmed" });
        expect(await readProjection(log, textFold, each)).toMatchObject({ state: LETTERS });
      }
    },
  },
];
