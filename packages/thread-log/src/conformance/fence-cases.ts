import type { Fence } from "@throughline/ai-core";
import { expect } from "vitest";
import { encodeEnvelope } from "../log/entries.js";
import type { StoreAppend } from "../log/log-store.js";
import type { ThreadRef } from "../thread-ref.js";
import { newThread, notes, runEnd } from "./log-scene.js";
import { leased, type RegistryCase, type RegistryScene, resume } from "./registry-scene.js";

const lease = { owner: "there", leaseMs: 60_000 };

let appends = 0;

/** Of a writer of its own, unless it is named. */
function appendOf(thread: ThreadRef, token: bigint, writer?: string): StoreAppend {
  appends += 1;
  const count = String(appends).padStart(9, "0");
  const appendId = `${writer ?? `w${count}---`}.${count}`;
  return { thread, token, appendId, entries: notes(thread, "a").map(encodeEnvelope) };
}

/** Everything that a writer that is out must not change. */
async function stateOf({ registry }: RegistryScene, thread: ThreadRef): Promise<unknown> {
  const look = await registry.look({ thread, runId: "none", answers: [] });
  return [look, await registry.list(thread, 10)];
}

/** Tokens and what they keep out: R17. */
export const fenceCases: readonly RegistryCase[] = [
  {
    name: "R17: fences out a writer whose token no counter of ours gave, whatever bumps the fence",
    async run({ registry, instance, thread, request }) {
      const { store } = instance;
      const far = 1_000_000_000_000n;
      const isOut = async (token: bigint) => {
        expect(await store.commit([appendOf(thread, token)])).toMatchObject([{ ok: false }]);
      };
      await store.open(thread, far, undefined);
      const first = leased(await registry.start(request()));
      await isOut(far);
      await registry.start(request({ strategy: "enqueue" }));
      await store.open(thread, 2n * far, undefined);
      await registry.finish(first.fence, { status: "success" });
      const second = await registry.claimNext(thread, lease);
      await isOut(2n * far);
      await store.open(thread, 3n * far, undefined);
      if (second) await registry.release(second.fence);
      const recovered = await registry.claimExpired(lease, 1_000);
      expect(recovered.map(({ run }) => run.runId)).toContain(second?.run.runId);
      await isOut(3n * far);
      await store.open(thread, 4n * far, undefined);
      await registry.deleteThread(thread);
      await isOut(4n * far);
      await store.open(thread, 5n * far, undefined);
      await store.deleteThread(thread);
      await isOut(5n * far);
      expect(await store.open(thread, 5n * far, undefined)).toEqual({ ok: false, reason: "deleted" });
    },
  },
  {
    name: "does not take a thread for one that was written because something in it was stopped or deleted",
    async run({ registry, instance, thread }) {
      const { store } = instance;
      await registry.stop(thread, { runId: "not there" });
      await registry.deleteThread(thread);
      expect(await store.deleteThread(thread)).toBe(false);
      expect(await store.deleteAccount(thread.account, undefined)).toBe(0);
      expect((await store.threads({ account: thread.account }, {})).threads).toEqual([]);
      expect(await store.commit([appendOf(thread, 1n)])).toEqual([{ ok: false, reason: "deleted" }]);
    },
  },
  {
    name: "R17: tokens grow over all threads, whatever bumps a fence",
    async run({ registry, instance, thread, request }) {
      const { store } = instance;
      const elsewhere = async () => {
        let last = 0n;
        for (const _ of ["one", "two", "three"]) {
          last = leased(await registry.start(request({ thread: newThread(thread.account) }))).fence.token;
        }
        return last;
      };
      const isOut = async (token: bigint) =>
        expect(await store.open(thread, token, undefined)).toMatchObject({ ok: false });
      let last = await elsewhere();
      const first = leased(await registry.start(request()));
      expect(first.fence.token).toBeGreaterThan(last);
      for (const strategy of ["enqueue", "enqueue"] as const) await registry.start(request({ strategy }));
      last = await elsewhere();
      await registry.finish(first.fence, { status: "success" });
      const second = await registry.claimNext(thread, lease);
      if (!second) return expect.unreachable();
      expect(second.fence.token).toBeGreaterThan(last);
      last = await elsewhere();
      await registry.finish(second.fence, { status: "success" });
      const claims = await registry.claimQueued(lease, 1_000);
      const third = claims.find(({ run }) => run.thread.threadId === thread.threadId);
      if (!third) return expect.unreachable();
      expect(third.fence.token).toBeGreaterThan(last);
      last = await elsewhere();
      await registry.release(third.fence);
      const recovered = await registry.claimExpired(lease, 1_000);
      const fourth = recovered.find(({ run }) => run.runId === third.run.runId);
      expect(fourth?.fence.token).toBeGreaterThan(last);
      for (const { deleteThread } of [registry, store]) {
        last = await elsewhere();
        await deleteThread(thread);
        await isOut(last);
      }
    },
  },
  {
    name: "R17: a log may be opened again under its own token, but not under that of its tombstone",
    async run({ instance, thread }) {
      const { store } = instance;
      const far = 1_000_000_000_000_000n;
      await store.open(thread, far, "chat/main");
      expect(await store.open(thread, far, undefined)).toMatchObject({ ok: true, head: { seq: 0 } });
      expect(await store.open(thread, far - 1n, undefined)).toEqual({ ok: false, reason: "fenced" });
      await store.deleteThread(thread);
      expect(await store.open(thread, far + 1n, undefined)).toEqual({ ok: false, reason: "deleted" });
      const append = appendOf(thread, far + 2n);
      // Entries that are alike are stored by another statement in some stores.
      for (const entries of [append.entries, notes(thread, "a", "b").map(encodeEnvelope)]) {
        expect(await store.commit([{ ...append, entries }])).toEqual([{ ok: false, reason: "deleted" }]);
      }
      expect(await store.open(thread, far + 2n, undefined)).toMatchObject({ ok: true });
    },
  },
  {
    name: "R17: a driver that is out moves nothing, not even the revision that others have looked at",
    async run(scene) {
      const { registry, another, thread, request } = scene;
      const first = leased(await registry.start(request()));
      await registry.release(first.fence);
      const claims = await another.claimExpired(lease, 1_000);
      const heir = claims.find(({ run }) => run.runId === first.run.runId);
      if (!heir) return expect.unreachable();
      const tryAll = async (fence: Fence) => {
        const before = await stateOf(scene, thread);
        expect(await registry.finish(fence, { status: "error" })).toMatchObject({ ok: false });
        await registry.release(fence);
        expect(await registry.heartbeat([fence], lease)).toEqual({ lost: [fence.runId], stopping: [] });
        expect(await registry.setUpstreamRun(fence, "late")).toBe(false);
        await expect(registry.assertHeld(fence)).rejects.toMatchObject({ code: "conflict" });
        expect(await stateOf(scene, thread)).toEqual(before);
      };
      await tryAll(first.fence);
      await another.finish(heir.fence, { status: "success" });
      await tryAll(first.fence);
      await tryAll(heir.fence);
    },
  },
  {
    name: "R17: an append that finishes a run needs the thread's token and the run's, which are one",
    async run(scene) {
      const { registry, instance, thread, request } = scene;
      const { store } = instance;
      const { run, fence } = leased(await registry.start(request()));
      const finish = { runId: run.runId, status: "success" } as const;
      const newer = fence.token + 1_000_000_000n;
      await store.open(thread, newer, undefined);
      const before = await stateOf(scene, thread);
      for (const token of [fence.token, newer]) {
        expect(await store.commit([{ ...appendOf(thread, token), finish }])).toEqual([
          { ok: false, reason: "fenced" },
        ]);
      }
      expect(await stateOf(scene, thread)).toEqual(before);
      expect(await store.commit([appendOf(thread, newer)])).toMatchObject([{ ok: true, first: 1 }]);
    },
  },
  {
    name: "R17: an append finishes no run but its own",
    async run(scene) {
      const { registry, instance, thread, request } = scene;
      const { store } = instance;
      const own = leased(await registry.start(request()));
      const other = leased(await registry.start(request({ thread: { ...thread, subject: "ann" } })));
      const finish = { runId: other.run.runId, status: "success" } as const;
      expect(await store.commit([{ ...appendOf(thread, own.fence.token), finish }])).toEqual([
        { ok: false, reason: "fenced" },
      ]);
      await registry.assertHeld(own.fence);
      await registry.assertHeld(other.fence);
    },
  },
  {
    name: "R28: of runs that end in one commit each closes and opens its own thread's questions",
    async run({ registry, instance, thread, request }) {
      const { store } = instance;
      const threads = [1, 2].map((n) => ({ ...thread, threadId: `${thread.threadId}-${n}` }));
      const batch: StoreAppend[] = [];
      for (const [n, each] of threads.entries()) {
        const asking = leased(await registry.start(request({ thread: each })));
        await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2", "i3"] });
        const start = resume({ i1: 1 });
        const { run, fence } = leased(await registry.start(request({ thread: each, start })));
        const finish = { runId: run.runId, status: "interrupted", interrupts: [`i${n + 2}`] } as const;
        batch.push({ ...appendOf(each, fence.token), finish });
      }
      expect(await store.commit(batch)).toMatchObject([{ ok: true }, { ok: true }]);
      for (const [n, each] of threads.entries()) {
        expect(await registry.openInterrupts(each)).toMatchObject([{ interruptId: `i${n + 2}` }]);
      }
    },
  },
  {
    name: "a commit of several threads judges each by itself: what ends, what goes on, what came twice, what is out",
    async run({ registry, instance, thread, request }) {
      const { store } = instance;
      const threads = [1, 2, 3, 4, 5, 6].map((n) => ({ ...thread, threadId: `${thread.threadId}-${n}` }));
      const runs = [];
      for (const each of threads) runs.push(leased(await registry.start(request({ thread: each }))));
      const [ends, goesOn, twice, out, gone, endsToo] = runs;
      if (!ends || !goesOn || !twice || !out || !gone || !endsToo) return expect.unreachable();
      await store.deleteThread(gone.run.thread);
      const writer = "writer-of-all";
      const seen = appendOf(twice.run.thread, twice.fence.token, writer);
      for (const { run, fence } of [goesOn, twice]) {
        expect(await store.commit([appendOf(run.thread, fence.token)])).toMatchObject([
          { ok: true, first: 1 },
        ]);
      }
      expect(await store.commit([seen])).toMatchObject([{ ok: true, first: 2 }]);
      const revisionOf = async ({ run }: typeof ends) =>
        (await registry.look({ thread: run.thread, runId: "none", answers: [] })).revision;
      const before = await revisionOf(goesOn);
      const end = {
        ...appendOf(ends.run.thread, ends.fence.token, writer),
        entries: [...notes(ends.run.thread, "b", "c"), runEnd(ends.run.thread, ends.run.runId)].map(
          encodeEnvelope,
        ),
        finish: { runId: ends.run.runId, status: "interrupted", interrupts: ["i1"] },
      } as const;
      const batch = [
        appendOf(goesOn.run.thread, goesOn.fence.token, writer),
        end,
        seen,
        appendOf(out.run.thread, out.fence.token - 1n, writer),
        appendOf(gone.run.thread, gone.fence.token + 1_000_000_000n, writer),
        {
          ...appendOf(endsToo.run.thread, endsToo.fence.token, writer),
          finish: { runId: endsToo.run.runId, status: "interrupted", interrupts: ["i2", "i3"] },
        } as const,
      ];
      const expected = [
        { ok: true, first: 2, last: 2 },
        { ok: true, first: 1, last: 3 },
        { ok: true, first: 2, last: 2 },
        { ok: false, reason: "fenced" },
        { ok: false, reason: "deleted" },
        { ok: true, first: 1, last: 1 },
      ];
      for (const _ of ["once", "again"]) expect(await store.commit(batch)).toMatchObject(expected);
      const ranges = await store.read(
        threads.map((each) => ({ thread: each, epoch: undefined, afterSeq: 0 })),
        10,
      );
      expect(ranges.map((range) => range?.entries.length)).toEqual([3, 2, 2, 0, 0, 1]);
      expect(ranges[0]?.entries.map(({ text }) => text)).toEqual(end.entries.map(({ text }) => text));
      expect(await revisionOf(goesOn)).toBe(before);
      expect(await registry.openInterrupts(ends.run.thread)).toHaveLength(1);
      expect(await registry.openInterrupts(endsToo.run.thread)).toHaveLength(2);
      expect(await registry.openInterrupts(goesOn.run.thread)).toEqual([]);
      const another = appendOf(ends.run.thread, ends.fence.token, "another-wrtr");
      const late = [
        { ...end, appendId: `${writer}.000000000` },
        appendOf(goesOn.run.thread, goesOn.fence.token),
      ];
      expect(await store.commit(late)).toMatchObject([
        { ok: false, reason: "fenced" },
        { ok: true, first: 3 },
      ]);
      expect(await store.commit([another])).toMatchObject([{ ok: true, first: 4 }]);
    },
  },
];
