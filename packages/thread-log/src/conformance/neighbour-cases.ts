import { expect } from "vitest";
import { encodeEnvelope } from "../log/stored-envelope.js";
import type { StoreAppend } from "../port/log-store.js";
import type { LeasedRun } from "../port/run-record.js";
import type { StartRun } from "../port/start-run.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { notes, runEnd } from "./log-scene.js";
import { leased, type RegistryCase, type RegistryScene, resume } from "./registry-scene.js";

const lease = { owner: "there", leaseMs: 60_000 };
const LONG_AGO = -1_000;
const LOAD = { foldVersions: [1], returnsTo: 1, shortlyBefore: 9, limit: 9 };

/** Threads that share all but one part of the key. */
function neighboursOf(thread: ThreadRef): readonly ThreadRef[] {
  return [
    { ...thread, account: `${thread.account}-b` },
    { ...thread, subject: "ann" },
    { ...thread, threadId: `${thread.threadId}-b` },
  ];
}

interface Settled {
  readonly thread: ThreadRef;
  readonly epoch: string;
  readonly running: LeasedRun;
  readonly waiting: StartRun;
}

let appends = 0;

function appendOf(thread: ThreadRef, token: bigint, entries = notes(thread, "more")): StoreAppend {
  appends += 1;
  const appendId = `neighbours-no.${String(appends).padStart(9, "0")}`;
  return { thread, token, appendId, entries: entries.map(encodeEnvelope) };
}

/**
 * Something of everything, under the same names in every thread: a log whose first entry was trimmed behind a snapshot, an
 * answered and an open question, a run, one that waits, and a stop that came too early.
 */
async function settle({ registry, instance, request }: RegistryScene, thread: ThreadRef): Promise<Settled> {
  const { store } = instance;
  const asking = leased(await registry.start(request({ thread, alias: "asked" })));
  const { epoch } = asking.head;
  const entries = [...notes(thread, "a"), runEnd(thread, "ended"), ...notes(thread, "b", "c")];
  await store.commit([appendOf(thread, asking.fence.token, entries)]);
  await store.saveSnapshot(thread, { position: { epoch, seq: 2 }, foldVersion: 1, state: "ab" });
  await store.trim(thread, epoch, 2, 10);
  await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
  const running = leased(await registry.start(request({ thread, alias: "runs", start: resume({ i1: 1 }) })));
  const waiting = request({ thread, alias: "waits", strategy: "enqueue" });
  await registry.start(waiting);
  await registry.stop(thread, { alias: "stopped" });
  return { thread, epoch, running, waiting };
}

/** Everything that can be known of a thread. */
async function digestOf({ registry, instance }: RegistryScene, thread: ThreadRef): Promise<unknown> {
  const { store, directory } = instance;
  const asked = { thread, runId: "none", answers: ["i1", "i2"] };
  const look = await registry.look({ ...asked, alias: "waits" });
  const { runs } = await registry.look({ ...asked, alias: "stopped" });
  return {
    look: { ...look, openRuns: 0 },
    isStopped: runs.stopped,
    runs: await registry.list(thread, 20),
    log: await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 100),
    kept: await store.kept(thread, 0, 10),
    terminal: await store.terminal(thread, "ended"),
    snapshot: await store.snapshot(thread, [1, 2]),
    loaded: await store.load?.(thread, LOAD),
    snapshots: await Promise.all([2, 3, 4].map((seq) => store.snapshot(thread, [1], seq))),
    excess: await store.excess(thread, { maxBytes: 1 }),
    uncompacted: await store.compaction?.uncompacted(thread, LONG_AGO, 100),
    listing: await directory.find(thread),
  };
}

/** Cases share a database: what others left is claimed along with it. */
function ofNeighbourhood({ account }: ThreadRef, claims: readonly LeasedRun[]): readonly LeasedRun[] {
  return claims.filter(({ run }) => run.thread.account.startsWith(account));
}

function bytesOf(entries: StoreAppend["entries"]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

interface Neighbourhood {
  readonly own: Settled;
  readonly others: readonly Settled[];
  /** Of all neighbours but those that are named. */
  expectUntouched(...but: readonly Settled[]): Promise<void>;
}

async function neighbourhood(scene: RegistryScene): Promise<Neighbourhood> {
  const others: Settled[] = [];
  for (const each of neighboursOf(scene.thread)) others.push(await settle(scene, each));
  const own = await settle(scene, scene.thread);
  const before = new Map<Settled, unknown>();
  for (const each of others) before.set(each, await digestOf(scene, each.thread));
  return {
    own,
    others,
    async expectUntouched(...but) {
      for (const each of others.filter((other) => !but.includes(other))) {
        expect(await digestOf(scene, each.thread)).toEqual(before.get(each));
      }
    },
  };
}

/** Accounts, subjects and threads are kept apart: names are the same everywhere, and each part of the key counts. */
export const neighbourCases: readonly RegistryCase[] = [
  {
    name: "a thread that is new has nothing of what its neighbours have",
    async run(scene) {
      const { registry, another, instance, thread } = scene;
      const { store, directory } = instance;
      for (const each of neighboursOf(thread)) await settle(scene, each);
      const nothing = async () => {
        expect(await registry.look({ thread, runId: "none", alias: "runs", answers: ["i1", "i2"] })).toEqual(
          expect.objectContaining({
            runs: {
              same: undefined,
              stopped: false,
              running: undefined,
              queued: [],
              preempting: 0,
              interrupts: [],
            },
            same: undefined,
            openRuns: 4,
          }),
        );
        expect((await registry.look({ thread, runId: "stopped", answers: [] })).runs.stopped).toBe(false);
        expect(await another.find(thread, { alias: "runs" })).toBeUndefined();
        expect(await another.active(thread)).toBeUndefined();
        expect(await another.open(thread)).toEqual([]);
        expect(await another.list(thread, 9)).toEqual([]);
        expect(await another.openInterrupts(thread)).toEqual([]);
        expect(await another.claimNext(thread, lease)).toBeUndefined();
        expect(await store.kept(thread, 0, 9)).toEqual([]);
        expect(await store.terminal(thread, "ended")).toBeUndefined();
        expect(await store.snapshot(thread, [1, 2])).toBeUndefined();
        const loaded = await store.load?.(thread, LOAD);
        expect(loaded?.snapshot ?? loaded?.entries[0]).toBeUndefined();
        expect(await store.compaction?.uncompacted(thread, LONG_AGO, 9)).toBeUndefined();
        expect(await directory.find(thread)).toBeUndefined();
      };
      await nothing();
      expect(await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 9)).toEqual([undefined]);
      expect(await store.excess(thread, { maxEntries: 0 })).toBeUndefined();
      expect(await store.trim(thread, "any", 9, 9)).toEqual({ dropped: 0, floor: 1 });
      expect(await store.commit([appendOf(thread, 1_000_000_000n)])).toEqual([
        { ok: false, reason: "deleted" },
      ]);
      expect(await store.deleteThread(thread)).toBe(false);
      await store.open(thread, 1n, "chat/own");
      await nothing();
      const [range] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 9);
      expect(range).toMatchObject({ head: 0, floor: 1, entries: [] });
      expect(await store.excess(thread, { maxBytes: 0, maxAgeMs: LONG_AGO })).toMatchObject({ through: 0 });
      expect(await registry.stop(thread, { alias: "runs" })).toEqual({ kind: "unknown" });
    },
  },
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
    name: "a run that starts, waits, preempts or answers does so in its own thread alone",
    async run(scene) {
      const { registry, another, instance, thread, request } = scene;
      const { own, expectUntouched } = await neighbourhood(scene);
      const asked = request({ strategy: "enqueue", alias: "new" });
      expect(await another.start(asked)).toMatchObject({ kind: "queued", ahead: 2 });
      expect(await another.start(request({ strategy: "preempt" }))).toMatchObject({
        kind: "queued",
        ahead: 1,
        preempted: own.running.run.runId,
      });
      await expectUntouched();
      for (const { runId } of (await registry.open(thread)).slice(1)) await registry.stop(thread, { runId });
      await registry.finish(own.running.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      const answering = leased(await registry.start(request({ start: resume({ i2: 2 }) })));
      expect(answering.head).toEqual({ epoch: own.epoch, seq: 4 });
      expect(await registry.openInterrupts(thread)).toMatchObject([{ interruptId: "i1" }]);
      await registry.finish(answering.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      const wayOut = leased(await registry.start(request({ strategy: "preempt" })));
      expect(await registry.openInterrupts(thread)).toEqual([]);
      expect(await instance.directory.find(thread)).toMatchObject({ lastRunId: wayOut.run.runId });
      await expectUntouched();
    },
  },
  {
    name: "a run that ends closes its own thread's questions, lists it, and names what waits there",
    async run(scene) {
      const { registry, instance, thread } = scene;
      const { own, expectUntouched } = await neighbourhood(scene);
      expect(
        await registry.finish(own.running.fence, { status: "interrupted", interrupts: ["i3"] }),
      ).toMatchObject({ ok: true, next: own.waiting.runId });
      expect(await registry.openInterrupts(thread)).toEqual([
        { interruptId: "i3", runId: own.running.run.runId },
      ]);
      expect(await instance.directory.find(thread)).toMatchObject({ status: "waiting" });
      await expectUntouched();
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
    name: "a stop names a run of its own thread",
    async run(scene) {
      const { registry, thread } = scene;
      const { own, others, expectUntouched } = await neighbourhood(scene);
      for (const { running } of others) {
        expect(await registry.stop(thread, { runId: running.run.runId })).toEqual({ kind: "unknown" });
        expect(await registry.find(thread, { runId: running.run.runId })).toBeUndefined();
      }
      expect(await registry.stop(thread, { alias: "runs" })).toMatchObject({
        kind: "stopping",
        run: { runId: own.running.run.runId },
      });
      expect(await registry.stop(thread, { alias: "waits" })).toMatchObject({
        kind: "cancelled",
        run: { runId: own.waiting.runId },
      });
      await expectUntouched();
    },
  },
  {
    name: "R24: what runs, waits or is asked in one thread keeps no run of another from being claimed",
    async run(scene) {
      const { registry, another, instance } = scene;
      const { own, expectUntouched } = await neighbourhood(scene);
      await registry.finish(own.running.fence, { status: "success" });
      const claimed = await another.claimNext(own.thread, lease);
      expect(claimed).toMatchObject({
        run: { runId: own.waiting.runId },
        head: { epoch: own.epoch, seq: 4 },
      });
      expect(await another.claimNext(own.thread, lease)).toBeUndefined();
      expect(await instance.directory.find(own.thread)).toMatchObject({ lastRunId: own.waiting.runId });
      await expectUntouched();
    },
  },
  {
    name: "R24: a claim in one thread takes its own run and no other, where all that wait could run",
    async run(scene) {
      const { registry, another, instance } = scene;
      const { own, others } = await neighbourhood(scene);
      const all = [...others, own];
      for (const { running } of all) await registry.finish(running.fence, { status: "success" });
      const idle = new Map<Settled, unknown>();
      for (const each of all) idle.set(each, await digestOf(scene, each.thread));
      for (const each of all) {
        const claimed = await another.claimNext(each.thread, lease);
        expect(claimed).toMatchObject({ run: { runId: each.waiting.runId }, head: { epoch: each.epoch } });
        expect(await instance.directory.find(each.thread)).toMatchObject({ lastRunId: each.waiting.runId });
        idle.delete(each);
        for (const [other, before] of idle) expect(await digestOf(scene, other.thread)).toEqual(before);
      }
    },
  },
  {
    name: "R24: a claim over all threads leases each run in its own thread",
    async run(scene) {
      const { registry, another, instance, thread } = scene;
      const { own, others } = await neighbourhood(scene);
      const all = [...others, own];
      for (const { running } of all) await registry.finish(running.fence, { status: "success" });
      const claims = ofNeighbourhood(thread, await another.claimQueued(lease, 1_000));
      expect(claims.map(({ run, head }) => [run.runId, head.epoch]).sort()).toEqual(
        all.map(({ waiting, epoch }) => [waiting.runId, epoch]).sort(),
      );
      for (const { run, fence } of claims) {
        expect(await instance.directory.find(run.thread)).toMatchObject({ lastRunId: run.runId });
        expect(await instance.store.commit([appendOf(run.thread, fence.token)])).toMatchObject([
          { ok: true },
        ]);
      }
    },
  },
  {
    name: "R24: a run that preempts sets aside the questions of its own thread, also where it is claimed",
    async run(scene) {
      const { registry, another, thread, request } = scene;
      const { own, others, expectUntouched } = await neighbourhood(scene);
      const urgent = request({ strategy: "preempt" });
      await registry.start(urgent);
      await registry.finish(own.running.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      expect(await another.claimNext(thread, lease)).toMatchObject({ run: { runId: urgent.runId } });
      expect(await registry.openInterrupts(thread)).toEqual([]);
      await expectUntouched();
      const [first, ...rest] = others;
      if (!first) return expect.unreachable();
      const inFirst = request({ thread: first.thread, strategy: "preempt" });
      await registry.start(inFirst);
      for (const { running } of others) {
        await registry.finish(running.fence, { status: "interrupted", interrupts: ["i1"] });
      }
      const claims = await another.claimQueued(lease, 1_000);
      expect(claims.map(({ run }) => run.runId)).toContain(inFirst.runId);
      for (const each of rest) expect(await registry.openInterrupts(each.thread)).toHaveLength(1);
    },
  },
  {
    name: "R27: a lease that is kept, given up or recovered is that of one run",
    async run(scene) {
      const { registry, another, instance, fixture, thread } = scene;
      const { own, others, expectUntouched } = await neighbourhood(scene);
      const { fence } = own.running;
      await registry.heartbeat([fence], { ...lease, leaseMs: 600_000 });
      await registry.setUpstreamRun(fence, "up");
      await registry.release(fence);
      await expectUntouched();
      const [recovered] = ofNeighbourhood(thread, await another.claimExpired(lease, 1_000));
      expect(recovered).toMatchObject({ run: { runId: fence.runId }, head: { epoch: own.epoch } });
      await expectUntouched();
      await fixture.pass(61_000);
      const claims = ofNeighbourhood(thread, await another.claimExpired(lease, 1_000));
      expect(claims.map(({ run, head }) => [run.runId, head.epoch]).sort()).toEqual(
        [own, ...others].map(({ running, epoch }) => [running.run.runId, epoch]).sort(),
      );
      for (const claim of claims) {
        await registry.assertHeld(claim.fence);
        expect(await instance.directory.find(claim.run.thread)).toMatchObject({
          lastRunId: claim.run.runId,
          token: claim.fence.token,
        });
      }
    },
  },
  {
    name: "R17: a driver whose thread has a newer writer is out, whatever tokens its neighbours hold",
    async run(scene) {
      const { registry, instance, thread } = scene;
      const { own, others } = await neighbourhood(scene);
      const { fence } = own.running;
      await registry.assertHeld(fence);
      await instance.store.open(thread, fence.token + 1_000_000_000n, undefined);
      await expect(registry.assertHeld(fence)).rejects.toMatchObject({ code: "conflict" });
      for (const { running } of others) await registry.assertHeld(running.fence);
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
