import { expect } from "vitest";
import { loadByParts } from "../log/load-by-parts.js";
import { encodeEnvelope } from "../log/stored-envelope.js";
import type { AgingPage, LogStore, StoreAppend } from "../port/log-store.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { type LogCase, newThread, note, notes, runEnd } from "./log-scene.js";

/** In the past and in the future: every entry is old enough, or none is. */
const [EVERY, NONE] = [-1_000, 60_000];

let appends = 0;

/** Each text is a note, each `|run` the end of a run. */
function appendOf(thread: ThreadRef, ...texts: readonly string[]): StoreAppend {
  appends += 1;
  const envelopes = texts.map((text) =>
    text.startsWith("|") ? runEnd(thread, text.slice(1)) : note(thread, text),
  );
  return {
    thread,
    token: 1n,
    appendId: `store-cases--.${String(appends).padStart(9, "0")}`,
    entries: envelopes.map(encodeEnvelope),
  };
}

async function written(store: LogStore, thread: ThreadRef, ...texts: readonly string[]): Promise<string> {
  const opened = await store.open(thread, 1n, undefined);
  if (!opened.ok) throw new Error(`open was refused: ${opened.reason}`);
  for (const text of texts) await store.commit([appendOf(thread, ...text.split(" "))]);
  return opened.head.epoch;
}

const seqsOf = (entries: readonly { readonly seq: number }[] = []) => entries.map(({ seq }) => seq);
const bytesOf = ({ entries }: StoreAppend) => entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Of this account, over all pages; a thread that is there twice is a failure. */
async function pagesOf(
  account: string,
  next: (page: { after: string | undefined; limit: number }) => Promise<AgingPage>,
  limit: number,
): Promise<string[]> {
  const seen: ThreadRef[] = [];
  let after: string | undefined;
  do {
    const page = await next({ after, limit });
    expect(page.threads.length).toBeLessThanOrEqual(limit);
    seen.push(...page.threads);
    after = page.next;
  } while (after !== undefined);
  expect(new Set(seen.map(threadKey)).size).toBe(seen.length);
  return seen
    .filter((thread) => thread.account === account)
    .map(({ threadId }) => threadId)
    .sort();
}

/** What the parts of a store promise that a log above it seldom or never asks for in all its forms. */
export const storeCases: readonly LogCase[] = [
  {
    name: "R3: a range is of the epoch that was asked for, and begins at the floor",
    async run({ store, thread }) {
      const epoch = await written(store, thread, "a b |run-1 c");
      await store.saveSnapshot(thread, { position: { epoch, seq: 3 }, foldVersion: 1, state: 3 });
      await store.trim(thread, epoch, 3, 9);
      const read = async (asked: string | undefined, afterSeq: number) =>
        seqsOf((await store.read([{ thread, epoch: asked, afterSeq }], 9))[0]?.entries);
      expect(await read(undefined, 0)).toEqual([4]);
      expect(await read(epoch, 2)).toEqual([4]);
      expect(await read("another", 0)).toEqual([]);
    },
  },
  {
    name: "R20: of a trimmed past the last terminals are kept, and none that can still be read is among them",
    async run({ store, thread }) {
      const epoch = await written(store, thread, "a |run-1 b |run-2 c |run-3 d |run-4");
      await store.saveSnapshot(thread, { position: { epoch, seq: 5 }, foldVersion: 1, state: 5 });
      await store.trim(thread, epoch, 5, 9);
      const kept = async (after: number, limit: number) => seqsOf(await store.kept(thread, after, limit));
      expect(await kept(0, 9)).toEqual([2, 4]);
      expect(await kept(0, 1)).toEqual([4]);
      expect(await kept(2, 9)).toEqual([4]);
      expect(await kept(4, 9)).toEqual([]);
      expect(await store.terminal(thread, "run-4")).toMatchObject({ entry: { seq: 8 } });
    },
  },
  {
    name: "a run's terminal is its last",
    async run({ store, thread }) {
      await written(store, thread, "a |run-1 b |run-2 |run-1 c");
      expect(await store.terminal(thread, "run-1")).toMatchObject({ entry: { seq: 5 } });
      expect(await store.terminal(thread, "run-3")).toBeUndefined();
    },
  },
  {
    name: "a load gives what its parts give, from whichever snapshot it begins",
    async run({ store, thread }) {
      const texts = Array.from({ length: 11 }, (_, n) => `t${n}`).join(" ");
      const epoch = await written(store, thread, `|run-0 ${texts} |run-1 x y`);
      const seqs = [
        [1, 4],
        [2, 4],
        [5, 4],
        [3, 5],
        [1, 7],
        [2, 9],
        [3, 9],
        [1, 11],
      ] as const;
      for (const [foldVersion, seq] of seqs) {
        const snapshot = { position: { epoch, seq }, foldVersion, state: { foldVersion, seq } };
        expect(await store.saveSnapshot(thread, snapshot)).toBe(true);
      }
      const compareAll = async () => {
        for (const foldVersions of [[1], [2], [1, 2], [4], [5], [3, 2]]) {
          for (const returnsTo of [undefined, 0, 1, 4, 5, 7, 8, 9, 10, 11, 14]) {
            for (const [shortlyBefore, limit] of [
              [0, 3],
              [2, 99],
              [9, 99],
            ] as const) {
              const request = { foldVersions, returnsTo, shortlyBefore, limit };
              const loaded = await (store.load?.(thread, request) ?? loadByParts(store, thread, request));
              const { resumeAt: _, ...byParts } = (await loadByParts(store, thread, request)) ?? {};
              expect({ request, loaded }).toEqual({ request, loaded: byParts });
            }
          }
        }
      };
      await compareAll();
      await store.trim(thread, epoch, 4, 9);
      await compareAll();
    },
  },
  {
    name: "a snapshot is found by the newest of the versions that can be read, up to and with the position asked for",
    async run({ store, thread }) {
      const epoch = await written(store, thread, "a b c d e f");
      for (const [foldVersion, seq] of [
        [1, 2],
        [2, 4],
        [1, 5],
      ] as const) {
        await store.saveSnapshot(thread, { position: { epoch, seq }, foldVersion, state: seq });
      }
      const seqOf = async (versions: readonly number[], notAfter?: number) =>
        (await store.snapshot(thread, versions, notAfter))?.position.seq;
      expect(await seqOf([1, 2])).toBe(5);
      expect(await seqOf([1, 2], 5)).toBe(5);
      expect(await seqOf([1, 2], 4)).toBe(4);
      expect(await seqOf([1], 4)).toBe(2);
      expect(await seqOf([1, 2], 1)).toBeUndefined();
    },
  },
  {
    name: "R19: a tombstone takes no snapshot, not even in its own epoch",
    async run({ store, thread }) {
      await written(store, thread, "a");
      await store.deleteThread(thread);
      const [range] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 9);
      expect(range).toMatchObject({ deleted: true, head: 0 });
      const position = { epoch: range?.epoch ?? "", seq: 0 };
      expect(await store.saveSnapshot(thread, { position, foldVersion: 1, state: 0 })).toBe(false);
    },
  },
  {
    name: "lists threads of every subject by pages, in order of subject and thread",
    async run({ store, thread }) {
      const { account } = thread;
      const all = ["ann", undefined, "bob"].flatMap((subject) => [
        newThread(account, subject),
        newThread(account, subject),
      ]);
      for (const each of all) await written(store, each);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.threads({ account, everySubject: true }, { after, limit: 1 });
        seen.push(...page.threads.map(({ thread: ref }) => threadKey(ref)));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(all.map(threadKey).sort());
    },
  },
  {
    name: "R20: threads with old entries are found page by page, each once, and no young, empty or deleted one",
    async run({ store, thread: { account } }) {
      const threads = [1, 2, 3].map(() => newThread(account));
      for (const each of threads) await written(store, each, "a");
      const [empty, deleted] = [newThread(account), newThread(account)];
      await written(store, empty);
      await written(store, deleted, "a");
      await store.deleteThread(deleted);
      const all = threads.map(({ threadId }) => threadId).sort();
      for (const limit of [1, 2, 100]) {
        expect(await pagesOf(account, (page) => store.aging(EVERY, page), limit)).toEqual(all);
      }
      expect(await pagesOf(account, (page) => store.aging(NONE, page), 100)).toEqual([]);
    },
  },
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
