import { expect } from "vitest";
import { encodeEnvelope } from "../log/entries.js";
import type { ThreadRef } from "../thread-ref.js";
import { notes, runEnd } from "./log-scene.js";
import {
  appendOf,
  bytesOf,
  digestOf,
  LOAD,
  LONG_AGO,
  neighbourhood,
  neighboursOf,
  type Settled,
  stateOf,
} from "./neighbourhood.js";
import type { RegistryCase } from "./registry-scene.js";

/** The same of logs: appends, snapshots, trims, compaction and deletions. */
export const neighbourLogCases: readonly RegistryCase[] = [
  {
    name: "a writer is told why it is refused by its own thread: fenced here, deleted there",
    async run(scene) {
      const { instance, thread } = scene;
      const { store } = instance;
      const { others } = await neighbourhood(scene);
      const reasonsOf = async (of: ThreadRef) => {
        const opened = await store.open(of, 1n, undefined);
        const [appended] = await store.commit([appendOf(of, 1n)]);
        return [opened, appended].map((result) => (result?.ok === false ? result.reason : "taken"));
      };
      const tombstones = others.map((each) => each.thread);
      for (const each of tombstones) await store.deleteThread(each);
      expect(await reasonsOf(thread)).toEqual(["fenced", "fenced"]);
      for (const each of tombstones) expect(await reasonsOf(each)).toEqual(["deleted", "deleted"]);
      for (const each of tombstones) {
        for (const open of others) await store.open(open.thread, 1_000_000_000n, undefined);
        await store.deleteThread(each);
        expect(await reasonsOf(each)).toEqual(["deleted", "deleted"]);
      }
    },
  },
  {
    name: "an append, one that finishes a run, and one that is refused are of one thread",
    async run(scene) {
      const { registry, instance, thread } = scene;
      const { store } = instance;
      const { own, expectUntouched } = await neighbourhood(scene);
      const { run, fence } = own.running;
      expect(await store.commit([appendOf(thread, fence.token)])).toMatchObject([{ ok: true, first: 5 }]);
      expect(await store.commit([appendOf(thread, fence.token - 1n)])).toMatchObject([
        { ok: false, reason: "fenced" },
      ]);
      const end = appendOf(thread, fence.token, [runEnd(thread, run.runId)]);
      const finish = { runId: run.runId, status: "interrupted", interrupts: ["i3"] } as const;
      for (const _ of ["once", "again"]) {
        expect(await store.commit([{ ...end, finish }])).toMatchObject([
          { ok: true, epoch: own.epoch, first: 6, next: own.waiting.runId },
        ]);
      }
      expect(await registry.openInterrupts(thread)).toMatchObject([{ interruptId: "i3" }]);
      expect(await instance.directory.find(thread)).toMatchObject({ status: "waiting" });
      await expectUntouched();
    },
  },
  {
    name: "R20: a snapshot, a trim and a compaction are of one thread",
    async run(scene) {
      const { instance, thread } = scene;
      const { store, directory } = instance;
      const { own, others, expectUntouched } = await neighbourhood(scene);
      const { epoch } = own;
      const { token } = own.running.fence;
      await store.commit([appendOf(thread, token, [runEnd(thread, "ended too")])]);
      const range = await store.compaction?.uncompacted(thread, LONG_AGO, 9);
      expect(range).toMatchObject({ epoch, floor: 3, end: 5, snapshots: [2] });
      expect(range?.entries.map(({ seq }) => seq)).toEqual([3, 4, 5]);
      const text = JSON.stringify(notes(thread, "bc")[0]);
      const compaction = { epoch, floor: 3, compacted: 0, through: 5, dropped: [3] };
      const merged = [{ seq: 4, text, bytes: text.length }];
      expect(await store.compaction?.compact(thread, { ...compaction, merged })).toBe(true);
      await store.compaction?.tidy?.(thread, 2, 5);
      await expectUntouched();
      for (const foldVersion of [1, 2]) {
        const snapshot = { position: { epoch, seq: 4 }, foldVersion, state: "abc" };
        expect(await store.saveSnapshot(thread, snapshot)).toBe(true);
      }
      expect(await store.excess(thread, { maxEntries: 1 })).toEqual({ epoch, through: 4 });
      expect(await store.trim(thread, epoch, 5, 0)).toEqual({ dropped: 2, floor: 5 });
      await directory.change(thread, { title: "mine", isArchived: true });
      await expectUntouched();
      const compacted: Settled[] = [];
      for (const other of others) {
        const line = JSON.stringify(notes(other.thread, "bc")[0]);
        const range = { epoch: other.epoch, floor: 3, compacted: 0, through: 4, dropped: [3] };
        const anew = [{ seq: 4, text: line, bytes: line.length }];
        expect(await store.compaction?.compact(other.thread, { ...range, merged: anew })).toBe(true);
        compacted.push(other);
        await expectUntouched(...compacted);
      }
    },
  },
  {
    name: "R20: a trim raises the floor of its own thread, however far snapshots of others reach",
    async run(scene) {
      const { instance, thread } = scene;
      const { store } = instance;
      const { own, others } = await neighbourhood(scene);
      for (const each of [...others, own]) {
        const position = { epoch: each.epoch, seq: 4 };
        await store.saveSnapshot(each.thread, { position, foldVersion: 1, state: "abc" });
      }
      expect(await store.trim(thread, own.epoch, 3, 9)).toMatchObject({ floor: 4 });
      const requests = others.map((each) => ({ thread: each.thread, epoch: undefined, afterSeq: 0 }));
      expect(await store.read(requests, 9)).toMatchObject(others.map(() => ({ floor: 3 })));
    },
  },
  {
    name: "R20: a compaction of a neighbour leaves the thread alone, and each loads its own snapshot",
    async run(scene) {
      const { store } = scene.instance;
      const { own, others } = await neighbourhood(scene);
      for (const { thread } of [own, ...others]) {
        expect(await store.snapshot(thread, [1])).toMatchObject({ state: stateOf(thread) });
        if (store.load) expect((await store.load(thread, LOAD))?.snapshot?.state).toBe(stateOf(thread));
      }
      const before = await digestOf(scene, own.thread);
      for (const { thread, epoch } of others) {
        const text = JSON.stringify(notes(thread, "bc")[0]);
        const range = { epoch, floor: 3, compacted: 0, through: 4, dropped: [3] };
        const merged = [{ seq: 4, text, bytes: text.length }];
        expect(await store.compaction?.compact(thread, { ...range, merged })).not.toBe(false);
        expect(await digestOf(scene, own.thread)).toEqual(before);
      }
    },
  },
  {
    name: "R20: what a thread holds and what no snapshot covers is counted by itself",
    async run(scene) {
      const { instance, thread } = scene;
      const { store } = instance;
      const { own, others } = await neighbourhood(scene);
      const position = { epoch: own.epoch, seq: 4 };
      await store.saveSnapshot(thread, { position, foldVersion: 1, state: "abc" });
      await store.trim(thread, own.epoch, 4, 0);
      for (const other of others) {
        const append = appendOf(other.thread, other.running.fence.token);
        const [result] = await store.commit([append]);
        const bytes = bytesOf(append.entries) + bytesOf(notes(other.thread, "b", "c").map(encodeEnvelope));
        const left = { entries: 3, bytes };
        expect(result).toMatchObject({ ok: true, held: left, unfolded: left });
      }
    },
  },
  {
    name: "deletes one thread, one subject or one account, and nothing beside it",
    async run(scene) {
      const { registry, instance, thread } = scene;
      const { store, directory } = instance;
      const { own, others, expectUntouched } = await neighbourhood(scene);
      const expectForgotten = async ({ thread: of, running }: Settled) => {
        expect(await registry.list(of, 9)).toMatchObject([{ runId: running.run.runId, stopRequested: true }]);
        const look = await registry.look({ thread: of, runId: "stopped", answers: ["i1", "i2"] });
        expect(look.runs).toMatchObject({ stopped: false, interrupts: [] });
        const { runs } = await registry.look({ thread: of, runId: "none", alias: "stopped", answers: [] });
        expect(runs.stopped).toBe(false);
        expect(await store.commit([appendOf(of, running.fence.token)])).toMatchObject([{ ok: false }]);
      };
      expect(await registry.deleteThread(thread)).toBe(own.running.run.runId);
      await expectForgotten(own);
      await expectUntouched();
      expect(await store.deleteThread(thread)).toBe(true);
      await directory.deleteThread(thread);
      await expectUntouched();
      const ofAnn = others.filter((each) => each.thread.subject === "ann");
      const { account } = thread;
      expect(await registry.deleteAccount(account, "ann")).toEqual(
        ofAnn.map(({ running }) => running.run.runId),
      );
      for (const each of ofAnn) await expectForgotten(each);
      expect(await store.deleteAccount(account, "ann")).toBe(1);
      await directory.deleteAccount(account, "ann");
      for (const each of ofAnn) expect(await directory.find(each.thread)).toBeUndefined();
      await expectUntouched(...ofAnn);
      const inAccount = others.filter((each) => each.thread.account === account);
      expect(await registry.deleteAccount(account)).toHaveLength(3);
      for (const each of inAccount) await expectForgotten(each);
      expect(await store.deleteAccount(account, undefined)).toBe(1);
      await directory.deleteAccount(account);
      for (const each of inAccount) expect(await directory.find(each.thread)).toBeUndefined();
      await expectUntouched(...inAccount);
    },
  },
  {
    name: "R20: a snapshot that is let go is one of its own thread and version",
    async run(scene) {
      const { instance, thread } = scene;
      const { store } = instance;
      const texts = Array.from({ length: 24 }, (_, n) => `${n}`);
      const save = async (of: ThreadRef, every: number, foldVersion = 1) => {
        const opened = await store.open(of, 1n, undefined);
        if (!opened.ok) return expect.unreachable();
        if (opened.head.seq === 0) await store.commit([appendOf(of, 1n, notes(of, ...texts))]);
        for (let seq = every; seq <= texts.length; seq += every) {
          const position = { epoch: opened.head.epoch, seq };
          expect(await store.saveSnapshot(of, { position, foldVersion, state: seq })).toBe(true);
        }
      };
      const seqsOf = async (of: ThreadRef, foldVersion = 1) => {
        const found = await Promise.all(texts.map((_, n) => store.snapshot(of, [foldVersion], n + 1)));
        return found.map((snapshot) => snapshot?.position.seq);
      };
      const others = neighboursOf(thread);
      for (const each of others) await save(each, 12);
      await save(thread, 12, 2);
      const all = async () => [
        await Promise.all(others.map((each) => seqsOf(each))),
        await seqsOf(thread, 2),
      ];
      const before = await all();
      await save(thread, 1);
      expect(new Set(await seqsOf(thread)).size).toBeLessThan(texts.length / 2);
      expect(await all()).toEqual(before);
    },
  },
];
