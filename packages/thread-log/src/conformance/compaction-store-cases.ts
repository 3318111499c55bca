import { expect } from "vitest";
import type { ThreadRef } from "../thread-ref.js";
import { type LogCase, newThread, note, notes } from "./log-scene.js";
import { appendOf, bytesOf, EVERY, NONE, pagesOf, seqsOf, written } from "./store-scene.js";

/** The parts of a store that compacts. */
export const compactionStoreCases: readonly LogCase[] = [
  {
    name: "threads that may be compacted are found page by page: those with the end of a run that can be read",
    async run({ store, thread: { account } }) {
      const { compaction } = store;
      if (!compaction) return;
      const ended = [1, 2, 3].map(() => newThread(account));
      for (const each of ended) await written(store, each, "a b |run-1 c");
      const [open, trimmed, atFloor, deleted] = [1, 2, 3, 4].map(() => newThread(account));
      if (!open || !trimmed || !atFloor || !deleted) return expect.unreachable();
      await written(store, open, "a b c");
      await written(store, deleted, "a |run-1");
      await store.deleteThread(deleted);
      for (const [each, through] of [
        [trimmed, 3],
        [atFloor, 2],
      ] as const) {
        const epoch = await written(store, each, "a b |run-1 c");
        await store.saveSnapshot(each, { position: { epoch, seq: through }, foldVersion: 1, state: 0 });
        await store.trim(each, epoch, through, 9);
      }
      const found = [...ended, atFloor].map(({ threadId }) => threadId).sort();
      for (const limit of [1, 2, 100]) {
        expect(await pagesOf(account, (page) => compaction.compactable(EVERY, page), limit)).toEqual(found);
      }
      expect(await pagesOf(account, (page) => compaction.compactable(NONE, page), 100)).toEqual([]);
      const [first] = ended;
      if (!first) return expect.unreachable();
      expect(seqsOf((await compaction.uncompacted(first, EVERY, 9))?.entries)).toEqual([1, 2, 3]);
      expect(seqsOf((await compaction.uncompacted(first, EVERY, 2))?.entries)).toEqual([1, 2]);
      expect(seqsOf((await compaction.uncompacted(atFloor, EVERY, 9))?.entries)).toEqual([3]);
      for (const each of [open, trimmed, deleted]) {
        expect(await compaction.uncompacted(each, EVERY, 9)).toBeUndefined();
      }
      expect(await compaction.uncompacted(first, NONE, 9)).toBeUndefined();
    },
  },
  {
    name: "compacts a range once, and none that has changed since it was read",
    async run({ store, thread }) {
      const { compaction } = store;
      if (!compaction) return;
      const epoch = await written(store, thread, "a b |run-1 c");
      const text = JSON.stringify(notes(thread, "ab")[0]);
      const merged = [{ seq: 2, text, bytes: text.length }];
      const asked = { epoch, floor: 1, compacted: 0, through: 3, dropped: [1], merged };
      for (const changed of [{ epoch: "another" }, { floor: 2 }, { compacted: 1 }]) {
        expect(await compaction.compact(thread, { ...asked, ...changed })).toBe(false);
      }
      expect(await compaction.compact(thread, asked)).toBe(true);
      expect(await compaction.compact(thread, { ...asked, merged: [], dropped: [] })).toBe(false);
      const isFound = async () =>
        (await pagesOf(thread.account, (page) => compaction.compactable(EVERY, page), 100)).length > 0;
      expect(await compaction.uncompacted(thread, EVERY, 9)).toBeUndefined();
      expect(await isFound()).toBe(false);
      await store.saveSnapshot(thread, { position: { epoch, seq: 3 }, foldVersion: 1, state: 3 });
      await store.commit([appendOf(thread, "d", "e", "|run-2", "f")]);
      for (const [foldVersion, seq] of [
        [1, 5],
        [2, 8],
      ] as const) {
        await store.saveSnapshot(thread, { position: { epoch, seq }, foldVersion, state: seq });
      }
      expect(await isFound()).toBe(true);
      const range = await compaction.uncompacted(thread, EVERY, 9);
      expect(range).toMatchObject({ epoch, floor: 1, compacted: 3, end: 7, snapshots: [5] });
      expect(seqsOf(range?.entries)).toEqual([4, 5, 6, 7]);
      await store.deleteThread(thread);
      const [tombstone] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 9);
      const ofTombstone = { ...asked, epoch: tombstone?.epoch ?? "", merged: [], dropped: [] };
      expect(await compaction.compact(thread, { ...ofTombstone, through: 0 })).toBe(false);
    },
  },
  {
    name: "R20: counts what it holds and what no snapshot covers through compaction, snapshots and trims",
    async run({ store, thread }) {
      const { compaction } = store;
      if (!compaction) return;
      const other = { ...thread, subject: "ann" };
      await written(store, other, "much longer than the rest", "|run-1");
      const { head } = await store.open(thread, 1n, undefined).then((opened) => {
        if (!opened.ok) throw new Error(opened.reason);
        return opened;
      });
      const sizes = new Map<number, number>();
      let seq = 0;
      const append = async (...texts: readonly string[]) => {
        const asked = appendOf(thread, ...texts);
        for (const { bytes } of asked.entries) sizes.set(++seq, bytes);
        const [result] = await store.commit([asked]);
        if (!result?.ok) throw new Error("refused");
        expect(bytesOf(asked)).toBeGreaterThan(0);
        expect([result.held.entries, result.unfolded.entries]).toEqual([seq - floor + 1, seq - newest]);
        return { held: result.held.bytes, unfolded: result.unfolded.bytes };
      };
      let [floor, newest] = [1, 0];
      const from = (first: number) =>
        [...sizes].reduce((sum, [at, bytes]) => (at >= first ? sum + bytes : sum), 0);
      expect(await append("a", "bb", "ccc", "dddd", "|run-1")).toEqual({ held: from(1), unfolded: from(1) });
      const { epoch } = head;
      await store.saveSnapshot(thread, { position: { epoch, seq: 2 }, foldVersion: 1, state: 2 });
      newest = 2;
      expect(await append("e")).toEqual({ held: from(1), unfolded: from(3) });
      const merged = [2, 4].map((at) => {
        const text = JSON.stringify(note(thread, `merged ${at}`));
        return { seq: at, text, bytes: Buffer.byteLength(text) };
      });
      const range = { epoch, floor: 1, compacted: 0, through: 5 };
      expect(await compaction.compact(thread, { ...range, dropped: [2], merged: [] })).toBe(false);
      expect(await compaction.compact(thread, { ...range, dropped: [1, 3], merged })).toBe(true);
      for (const at of [1, 3]) sizes.delete(at);
      for (const { seq: at, bytes } of merged) sizes.set(at, bytes);
      expect(await append("f")).toEqual({ held: from(1), unfolded: from(3) });
      await store.saveSnapshot(thread, { position: { epoch, seq: 4 }, foldVersion: 2, state: 4 });
      newest = 4;
      expect(await append("g")).toEqual({ held: from(1), unfolded: from(5) });
      // 3 was merged into 4: 2 is the last that goes as a whole.
      expect(await store.trim(thread, epoch, 3, 9)).toMatchObject({ floor: 3 });
      floor = 3;
      expect(await append("h")).toEqual({ held: from(3), unfolded: from(5) });
      const at = (position: number) =>
        store.saveSnapshot(thread, { position: { epoch, seq: position }, foldVersion: 3, state: 0 });
      expect(await at(3)).toBe(false);
      expect(await at(1)).toBe(false);
      expect(await at(2)).toBe(true);
      expect(await append("i")).toEqual({ held: from(3), unfolded: from(5) });
    },
  },
  {
    name: "compacts a range whatever snapshots other threads have",
    async run({ store, thread }) {
      const { compaction } = store;
      if (!compaction) return;
      const epoch = await written(store, thread, "a b |run-1");
      const other = newThread(thread.account);
      const position = { epoch: await written(store, other, "a b |run-1"), seq: 1 };
      expect(await store.saveSnapshot(other, { position, foldVersion: 1, state: 1 })).toBe(true);
      const text = JSON.stringify(note(thread, "ab"));
      const merged = [{ seq: 2, text, bytes: text.length }];
      const range = { epoch, floor: 1, compacted: 0, through: 3, dropped: [1], merged };
      expect(await compaction.compact(thread, range)).toBe(true);
    },
  },
  {
    name: "keeps templates of entries that were compacted before, and of a neighbour that is in the middle of it",
    async run({ store, thread }) {
      const { compaction } = store;
      if (!compaction) return;
      const others = [
        { ...thread, account: `${thread.account}-b` },
        { ...thread, subject: "ann" },
        { ...thread, threadId: `${thread.threadId}-b` },
      ];
      for (const each of others) {
        const epoch = await written(store, each, "1 2 3 4 |run-1");
        const text = JSON.stringify(note(each, "12"));
        const merged = [{ seq: 2, text, bytes: text.length }];
        const range = { epoch, floor: 1, compacted: 0, through: 2, dropped: [1], merged };
        expect(await compaction.compact(each, range)).toBe(true);
      }
      const epoch = await written(store, thread, "1 2 |run-1", "3 4 5 |run-2", "6 7");
      const range = { epoch, floor: 1, dropped: [], merged: [] };
      // Of the neighbours nothing up to there uses a template any more.
      await compaction.tidy?.(thread, 0, 2);
      await compaction.compact(thread, { ...range, compacted: 0, through: 3 });
      await compaction.tidy?.(thread, 0, 3);
      const text = JSON.stringify(note(thread, "34"));
      const merged = [{ seq: 5, text, bytes: text.length }];
      await compaction.compact(thread, { ...range, compacted: 3, through: 7, dropped: [4], merged });
      await compaction.tidy?.(thread, 3, 7);
      const readable = async (of: ThreadRef) =>
        (await store.read([{ thread: of, epoch: undefined, afterSeq: 0 }], 9))[0]?.entries.map((entry) => {
          const { type, payload } = JSON.parse(entry.text);
          return payload.value ?? type;
        });
      expect(await readable(thread)).toEqual(["1", "2", "run_end", "34", "5", "run_end", "6", "7"]);
      for (const each of others) {
        expect(await readable(each)).toEqual(["12", "3", "4", "run_end"]);
        const [found] = await store.read([{ thread: each, epoch: undefined, afterSeq: 0 }], 9);
        expect(seqsOf(found?.entries)).toEqual([2, 3, 4, 5]);
      }
    },
  },
];
