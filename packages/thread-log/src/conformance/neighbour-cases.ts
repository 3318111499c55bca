import { expect } from "vitest";
import { neighbourLogCases } from "./neighbour-log-cases.js";
import {
  amongNeighbours,
  appendOf,
  digestOf,
  LOAD,
  LONG_AGO,
  neighbourhood,
  neighboursOf,
  ofNeighbourhood,
  type Settled,
  settle,
} from "./neighbourhood.js";
import { leased, type RegistryCase, resume } from "./registry-scene.js";

const lease = { owner: "there", leaseMs: 60_000 };

const cases: readonly RegistryCase[] = [
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
      // Its neighbours' runs have waited longer.
      const all = [own, ...others];
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
    name: "R24: what runs or is asked in one thread keeps no run of another from being claimed over all threads",
    async run(scene) {
      const { registry, another, thread, request } = scene;
      const { own, others } = await neighbourhood(scene);
      const later = request({ strategy: "enqueue" });
      await registry.start(later);
      const claimed = async () => ofNeighbourhood(thread, await another.claimQueued(lease, 1_000));
      await registry.finish(own.running.fence, { status: "success" });
      const [first, ...none] = await claimed();
      expect([first?.run.runId, none]).toEqual([own.waiting.runId, []]);
      for (const { running } of others) {
        await registry.finish(running.fence, { status: "interrupted", interrupts: ["i1"] });
      }
      if (first) await registry.finish(first.fence, { status: "success" });
      expect((await claimed()).map(({ run }) => run.runId)).toEqual([later.runId]);
    },
  },
  {
    name: "R24: a run that preempts and is claimed over all threads sets aside the questions of its own",
    async run(scene) {
      const { registry, another, thread, request } = scene;
      const { own, others } = await neighbourhood(scene);
      const urgent = request({ strategy: "preempt" });
      await registry.start(urgent);
      for (const { running } of [own, ...others]) {
        await registry.finish(running.fence, { status: "interrupted", interrupts: ["i1"] });
      }
      const claims = ofNeighbourhood(thread, await another.claimQueued(lease, 1_000));
      expect(claims.map(({ run }) => run.runId)).toEqual([urgent.runId]);
      expect(await registry.openInterrupts(thread)).toEqual([]);
      for (const each of others) expect(await registry.openInterrupts(each.thread)).toHaveLength(1);
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
  ...neighbourLogCases,
];

/** Accounts, subjects and threads are kept apart: names are the same everywhere, and each part of the key counts. */
export const neighbourCases: readonly RegistryCase[] = cases.map(amongNeighbours);
