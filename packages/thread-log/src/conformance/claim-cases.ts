import { expect } from "vitest";
import type { LeasedRun } from "../registry/run-registry.js";
import { notes, readAll } from "./log-scene.js";
import { leased, type RegistryCase, type RegistryScene, resume } from "./registry-scene.js";

const lease = { owner: "there", leaseMs: 60_000 };
const BLOCKED_THREADS = 40;

/** How runs that wait, or whose driver is gone, find a driver: R24, R27. */
export const claimCases: readonly RegistryCase[] = [
  {
    name: "claims waiting runs whose instance is gone",
    async run({ registry, another, thread, request }) {
      const { fence } = leased(await registry.start(request()));
      const waiting = request({ strategy: "enqueue" });
      await registry.start(waiting);
      const mine = async () =>
        (await another.claimQueued(lease, 1_000)).filter(({ run }) => run.thread.account === thread.account);
      expect(await mine()).toEqual([]);
      await registry.finish(fence, { status: "success" });
      expect((await mine()).map(({ run }) => run.runId)).toEqual([waiting.runId]);
      expect(await mine()).toEqual([]);
    },
  },
  {
    name: "R24: threads that wait for a person do not hide those that could run",
    async run({ registry, another, thread, request }) {
      // What other cases left waiting is older.
      while ((await registry.claimQueued(lease, 1_000)).length > 0);
      for (let n = 0; n < BLOCKED_THREADS; n++) {
        const blocked = { ...thread, threadId: `${thread.threadId}-${n}` };
        const { fence } = leased(await registry.start(request({ thread: blocked })));
        await registry.start(request({ thread: blocked, strategy: "enqueue" }));
        await registry.finish(fence, { status: "interrupted", interrupts: ["i1"] });
      }
      const { fence } = leased(await registry.start(request()));
      const waiting = [request({ strategy: "enqueue" }), request({ strategy: "enqueue" })] as const;
      for (const each of waiting) await registry.start(each);
      await registry.finish(fence, { status: "success" });
      const claimed = async () => (await another.claimQueued(lease, 16)).map(({ run }) => run.runId);
      expect(await claimed()).toEqual([waiting[0].runId]);
      expect(await claimed()).toEqual([]);
    },
  },
  {
    name: "R24: takes those that wait longest first, one of each thread, and no more than it is asked for",
    async run({ registry, another, thread, request }) {
      while ((await registry.claimQueued(lease, 1_000)).length > 0);
      const threads = [1, 2, 3].map((n) => ({ ...thread, threadId: `${thread.threadId}-${n}` }));
      const fences = [];
      for (const each of threads) fences.push(leased(await registry.start(request({ thread: each }))).fence);
      const waiting = [];
      for (const each of [...threads, ...threads].toReversed()) {
        const asked = request({ thread: each, strategy: "enqueue" });
        await registry.start(asked);
        waiting.push(asked.runId);
      }
      for (const fence of fences) await registry.finish(fence, { status: "success" });
      const first = await another.claimQueued(lease, 2);
      expect(first.map(({ run }) => run.runId)).toEqual(waiting.slice(0, 2));
      const rest = await Promise.all([registry.claimQueued(lease, 10), another.claimQueued(lease, 10)]);
      expect(rest.flat().map(({ run }) => run.runId)).toEqual(waiting.slice(2, 3));
    },
  },
  {
    name: "tells where the log stands with each lease, and the log is open for its holder",
    async run({ registry, another, log, thread, request }) {
      const first = leased(await registry.start(request()));
      expect(first.head).toMatchObject({ seq: 0 });
      expect(await log.append(thread, notes(thread, "a", "b"), first.fence)).toMatchObject({ first: 1 });
      expect(await log.head(thread)).toEqual({ epoch: first.head.epoch, seq: 2 });
      await another.start(request({ strategy: "enqueue" }));
      await registry.release(first.fence);
      const recovered = (await another.claimExpired(lease, 1_000)).find(isOf(first));
      expect(recovered?.head).toEqual({ epoch: first.head.epoch, seq: 2 });
      if (!recovered) return expect.unreachable();
      await log.append(thread, notes(thread, "c"), recovered.fence);
      await another.finish(recovered.fence, { status: "success" });
      const next = await another.claimNext(thread, lease);
      expect(next?.head).toEqual({ epoch: first.head.epoch, seq: 3 });
      if (!next) return expect.unreachable();
      expect(await log.append(thread, notes(thread, "late"), recovered.fence)).toMatchObject({ ok: false });
      await log.append(thread, notes(thread, "d"), next.fence);
      expect(await readAll(log, thread)).toEqual(["a", "b", "c", "d"]);
    },
  },
  {
    name: "R27: a lease that ran out counts as a crash, a released one does not, and both number the attempts",
    async run({ registry, another, fixture, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.release(first.fence);
      const second = await recover(another, first);
      expect(second.run).toMatchObject({ attempt: 1, crashes: 0 });
      await fixture.pass(61_000);
      const third = await recover(registry, first);
      expect(third.run).toMatchObject({ attempt: 2, crashes: 1 });
      await registry.release(third.fence);
      const fourth = await recover(another, first);
      expect(fourth.run).toMatchObject({ attempt: 3, crashes: 1 });
      expect(await registry.find(thread, first.run)).toMatchObject({ attempt: 3, crashes: 1 });
    },
  },
  {
    name: "R27: a driver that was presumed dead takes its crash back once, and nothing else",
    async run({ registry, another, fixture, thread, request }) {
      const first = leased(await registry.start(request()));
      await fixture.pass(61_000);
      const second = await recover(another, first);
      expect(second.run).toMatchObject({ attempt: 1, crashes: 1 });
      for (const _ of ["alive", "alive again"]) await registry.release(first.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({
        attempt: 1,
        crashes: 0,
        owner: "there",
        leaseUntil: second.run.leaseUntil,
      });
      await fixture.pass(61_000);
      const third = await recover(registry, first);
      expect(third.run).toMatchObject({ attempt: 2, crashes: 1 });
      await registry.release(first.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({ crashes: 1 });
      await registry.finish(third.fence, { status: "success" });
      await registry.release(second.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({ status: "success", crashes: 0 });
    },
  },
  {
    name: "R27: a driver that gave its lease up and was recovered takes no crash back",
    async run({ registry, another, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.release(first.fence);
      await recover(another, first);
      await registry.release(first.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({ attempt: 1, crashes: 0 });
    },
  },
  {
    name: "R27: a driver that was presumed dead takes its crash back after its heir gave up, too",
    async run({ registry, another, fixture, thread, request }) {
      const first = leased(await registry.start(request()));
      await fixture.pass(61_000);
      const heir = await recover(another, first);
      await another.release(heir.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({ crashes: 1 });
      await registry.release(first.fence);
      expect(await registry.find(thread, first.run)).toMatchObject({ crashes: 0 });
    },
  },
  {
    name: "R27: of runs that were given up the one that arrived first is recovered first, and the rest in their order",
    async run({ registry, another, fixture, thread, request }) {
      await fixture.pass(120_000);
      while ((await registry.claimExpired({ ...lease, leaseMs: 600_000 }, 1_000)).length > 0);
      const threads = [1, 2, 3, 4].map((n) => ({ ...thread, threadId: `${thread.threadId}-${n}` }));
      const started = [];
      for (const each of threads) started.push(leased(await registry.start(request({ thread: each }))));
      await fixture.pass(61_000);
      for (const each of [started[2], started[1]]) if (each) await registry.release(each.fence);
      const order = [];
      for (const _ of threads) order.push(...(await another.claimExpired(lease, 1)));
      expect(order.map(({ run }) => run.runId)).toEqual(
        [started[1], started[2], started[0], started[3]].map((each) => each?.run.runId),
      );
    },
  },
  {
    name: "R24: over all threads, those runs go first that arrived first of those that are next in their thread",
    async run({ registry, another, thread, request }) {
      while ((await registry.claimQueued(lease, 1_000)).length > 0);
      const other = { ...thread, threadId: `${thread.threadId}-b` };
      const here = leased(await registry.start(request()));
      const there = leased(await registry.start(request({ thread: other })));
      await registry.start(request({ strategy: "enqueue" }));
      const patient = request({ thread: other, strategy: "enqueue" });
      await registry.start(patient);
      const urgent = request({ strategy: "preempt" });
      await registry.start(urgent);
      for (const { fence } of [here, there]) await registry.finish(fence, { status: "success" });
      const claimed = async () => (await another.claimQueued(lease, 1)).map(({ run }) => run.runId);
      expect([await claimed(), await claimed(), await claimed()]).toEqual([
        [patient.runId],
        [urgent.runId],
        [],
      ]);
    },
  },
  {
    name: "R28: an answer that waits runs while another question is open, and leaves that open",
    async run({ registry, another, thread, request }) {
      while ((await registry.claimQueued(lease, 1_000)).length > 0);
      const askAgain = async (run: LeasedRun) => {
        const answer = request({ start: resume({ i2: 2 }), strategy: "enqueue" });
        expect(await registry.start(answer)).toMatchObject({ kind: "queued" });
        await registry.finish(run.fence, { status: "interrupted", interrupts: ["i3"] });
        return answer.runId;
      };
      const next = [
        () => another.claimNext(thread, lease),
        async () =>
          (await another.claimQueued(lease, 1_000)).find(
            ({ run }) => run.thread.threadId === thread.threadId,
          ),
      ];
      for (const claim of next) {
        const asking = leased(await registry.start(request({ strategy: "preempt" })));
        await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
        const first = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
        const runId = await askAgain(first);
        const claimed = await claim();
        expect(claimed?.run.runId).toBe(runId);
        expect(await registry.openInterrupts(thread)).toEqual([
          { interruptId: "i3", runId: first.run.runId },
        ]);
        if (claimed) await registry.finish(claimed.fence, { status: "success" });
      }
    },
  },
  {
    name: "R28: a run that preempts sets aside what is open when it is claimed, and keeps the answers that were given",
    async run({ registry, another, thread, request }) {
      while ((await registry.claimQueued(lease, 1_000)).length > 0);
      const next = [
        () => another.claimNext(thread, lease),
        async () =>
          (await another.claimQueued(lease, 1_000)).find(
            ({ run }) => run.thread.threadId === thread.threadId,
          ),
      ];
      for (const claim of next) {
        const asking = leased(await registry.start(request()));
        await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1"] });
        const answer = request({ start: resume({ i1: 1 }) });
        const answering = leased(await registry.start(answer));
        await registry.start(request({ strategy: "preempt" }));
        await registry.finish(answering.fence, { status: "interrupted", interrupts: ["i2"] });
        const claimed = await claim();
        expect(await registry.openInterrupts(thread)).toEqual([]);
        expect(await registry.start(request({ start: resume({ i1: 1 }) }))).toMatchObject({
          kind: "attached",
          run: { runId: answer.runId },
        });
        if (claimed) await registry.finish(claimed.fence, { status: "success" });
      }
    },
  },
];

function isOf({ run }: LeasedRun): (claim: LeasedRun) => boolean {
  return (claim) => claim.run.runId === run.runId;
}

/** Cases share a database: what others left is claimed along with it. */
async function recover(registry: RegistryScene["registry"], lost: LeasedRun): Promise<LeasedRun> {
  const claim = (await registry.claimExpired(lease, 1_000)).find(isOf(lost));
  if (!claim) throw new Error("the run was not claimed");
  return claim;
}
