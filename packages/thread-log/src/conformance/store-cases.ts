import { expect } from "vitest";
import { loadByParts } from "../memory/log-store.js";
import { threadKey } from "../thread-ref.js";
import { compactionStoreCases } from "./compaction-store-cases.js";
import { type LogCase, newThread } from "./log-scene.js";
import { EVERY, NONE, pagesOf, seqsOf, written } from "./store-scene.js";

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
    name: "R20: a trim that keeps fewer terminals deletes the others, also where the floor stays",
    async run({ store, thread }) {
      const epoch = await written(store, thread, "a |run-1 b |run-2 c");
      await store.saveSnapshot(thread, { position: { epoch, seq: 4 }, foldVersion: 1, state: 4 });
      expect(await store.trim(thread, epoch, 4, 9)).toEqual({ dropped: 2, floor: 5 });
      expect(await store.trim(thread, "another", 4, 1)).toEqual({ dropped: 0, floor: 5 });
      expect(await store.trim(thread, epoch, 4, 1)).toEqual({ dropped: 1, floor: 5 });
      expect(seqsOf(await store.kept(thread, 0, 9))).toEqual([4]);
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
      const other = newThread(thread.account);
      const position = { epoch: await written(store, other, texts), seq: 10 };
      expect(await store.saveSnapshot(other, { position, foldVersion: 1, state: "not of this thread" })).toBe(
        true,
      );
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
  ...compactionStoreCases,
];
