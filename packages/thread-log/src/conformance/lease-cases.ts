import { expect, vi } from "vitest";
import { eventually } from "./eventually.js";
import { notes, readAll } from "./log-scene.js";
import { leased, type RegistryCase } from "./registry-scene.js";

const lease = { owner: "there", leaseMs: 60_000 };

/** Who drives, and how that changes hands: R17, R18, R27. */
export const leaseCases: readonly RegistryCase[] = [
  {
    name: "R27: a run whose lease ran out is claimed once, with a higher fence, one attempt more and its input",
    async run({ registry, another, fixture, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      const mine = async () => {
        const claims = await Promise.all([
          registry.claimExpired(lease, 1_000),
          another.claimExpired({ ...lease, owner: "elsewhere" }, 1_000),
        ]);
        return claims.flat().filter((claim) => claim.run.thread.account === thread.account);
      };
      expect(await mine()).toEqual([]);
      await fixture.pass(61_000);
      const [claim, ...others] = await mine();
      expect(others).toEqual([]);
      expect(claim?.run).toMatchObject({ runId: run.runId, attempt: 1, status: "running", start: run.start });
      expect(claim?.run.owner).toMatch(/^(there|elsewhere)$/);
      expect(claim?.fence.token).toBeGreaterThan(fence.token);
      expect(await mine()).toEqual([]);
    },
  },
  {
    name: "R17: a driver that lost its lease can change nothing any more, neither run nor log",
    async run({ registry, another, fixture, log, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      await log.append(thread, notes(thread, "mine"), fence);
      await expect(registry.assertHeld(fence)).resolves.toBeUndefined();
      await fixture.pass(61_000);
      const claims = await another.claimExpired(lease, 1_000);
      const claim = claims.find((each) => each.run.runId === run.runId);
      if (!claim) return expect.unreachable();
      expect(await log.append(thread, notes(thread, "late"), fence)).toEqual({ ok: false, reason: "fenced" });
      expect(await registry.heartbeat([fence], lease)).toEqual({ lost: [run.runId], stopping: [] });
      expect(await registry.setUpstreamRun(fence, "u")).toBe(false);
      expect(await registry.finish(fence, { status: "success" })).toEqual({ ok: false, reason: "fenced" });
      await registry.release(fence);
      await expect(registry.assertHeld(fence)).rejects.toMatchObject({ code: "conflict" });
      expect(await registry.active(thread)).toMatchObject({ owner: "there", attempt: 1 });
      await log.append(thread, notes(thread, "theirs"), claim.fence);
      expect(await readAll(log, thread)).toEqual(["mine", "theirs"]);
      expect(await another.finish(claim.fence, { status: "lost" })).toEqual({ ok: true, next: undefined });
    },
  },
  {
    name: "R18: a heartbeat keeps the lease, and a release gives it up at once",
    async run({ registry, another, fixture, request }) {
      const { run, fence } = leased(await registry.start(request()));
      const expired = async () =>
        (await another.claimExpired(lease, 1_000)).some((claim) => claim.run.runId === run.runId);
      await fixture.pass(40_000);
      expect(await registry.heartbeat([fence], lease)).toEqual({ lost: [], stopping: [] });
      await fixture.pass(40_000);
      expect(await expired()).toBe(false);
      await registry.release(fence);
      expect(await expired()).toBe(true);
    },
  },
  {
    name: "R27: a run that is released before anything was done for it has its first attempt with who claims it",
    async run({ registry, another, fixture, request }) {
      const { run, fence } = leased(await registry.start(request()));
      const claimed = async () =>
        (await another.claimExpired(lease, 1_000)).find((claim) => claim.run.runId === run.runId);
      await registry.release(fence, { isFresh: true });
      const first = await claimed();
      expect(first?.run).toMatchObject({ attempt: 0, crashes: 0, owner: "there", start: run.start });
      // Its answer was lost, and it is sent again: the run is another's by now.
      await registry.release(fence, { isFresh: true });
      expect(await claimed()).toBeUndefined();
      await fixture.pass(61_000);
      expect((await claimed())?.run).toMatchObject({ attempt: 1, crashes: 1 });
    },
  },
  {
    name: "R27: another instance hears that a run was released",
    async run({ registry, another, request }) {
      let told = 0;
      const forget = another.onReleased(() => {
        told += 1;
      });
      const { fence } = leased(await registry.start(request()));
      expect(told).toBe(0);
      await registry.release(fence);
      await eventually(() => expect(told).toBeGreaterThan(0));
      forget();
    },
  },
  {
    name: "R24: a driver that does not heed a stop loses its run when its lease is over, heartbeats or not",
    async run({ registry, another, fixture, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      await another.stop(thread, { runId: run.runId });
      for (let beat = 0; beat < 2; beat += 1) {
        await fixture.pass(40_000);
        expect(await registry.heartbeat([fence], lease)).toEqual({ lost: [], stopping: [run.runId] });
      }
      const claims = await another.claimExpired(lease, 1_000);
      const claim = claims.find((each) => each.run.runId === run.runId);
      expect(claim?.run).toMatchObject({ attempt: 1, stopRequested: true });
      expect(await registry.finish(fence, { status: "success" })).toEqual({ ok: false, reason: "fenced" });
    },
  },
  {
    name: "a run is finished exactly once",
    async run({ registry, another, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      const results = await Promise.all(
        [registry, another, registry].map((each) => each.finish(fence, { status: "error" })),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
      expect(results.filter(({ ok }) => !ok)).toEqual([
        { ok: false, reason: "ended" },
        { ok: false, reason: "ended" },
      ]);
      expect(await registry.find(thread, { runId: run.runId })).toMatchObject({
        status: "error",
        owner: undefined,
        start: undefined,
        endedAt: expect.any(Number),
      });
      expect(await registry.active(thread)).toBeUndefined();
    },
  },
  {
    name: "R27: keeps the input until the run ends, and the upstream's id from when it is known",
    async run({ registry, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      expect(await registry.setUpstreamRun(fence, "up-1")).toBe(true);
      expect(await registry.find(thread, run)).toMatchObject({ upstreamRunId: "up-1", start: run.start });
      await registry.finish(fence, { status: "success" });
      expect(await registry.find(thread, run)).toMatchObject({ upstreamRunId: "up-1", start: undefined });
    },
  },
  {
    name: "R17: a lease keeper renews until it is told otherwise, and tells of a stop and of a loss",
    async run({ registry, another, fixture, instance, thread, request }) {
      const keeper = await fixture.openKeeper(instance, { leaseMs: 600_000, everyMs: 20 });
      const { run, fence } = leased(await registry.start(request({ leaseMs: 60_000 })));
      const listener = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
      const letGo = keeper.keep(fence, listener);
      const leaseUntil = async () => (await registry.find(thread, run))?.leaseUntil ?? 0;
      try {
        await eventually(async () => {
          await fixture.pass(25);
          expect(await leaseUntil()).toBeGreaterThan((run.leaseUntil ?? 0) + 60_000);
        });
        expect(listener.lost).not.toHaveBeenCalled();
        await another.stop(thread, run);
        await eventually(async () => {
          await fixture.pass(25);
          expect(listener.stop).toHaveBeenCalledTimes(1);
        });
        let taken = false;
        await eventually(async () => {
          await registry.release(fence);
          const claims = await another.claimExpired(lease, 1_000);
          taken ||= claims.some((claim) => claim.run.runId === run.runId);
          expect(taken).toBe(true);
        });
        await eventually(async () => {
          await fixture.pass(25);
          expect(listener.lost).toHaveBeenCalledTimes(1);
        });
        expect(listener.stop).toHaveBeenCalledTimes(1);
        expect(listener.expired).not.toHaveBeenCalled();
      } finally {
        letGo();
        await keeper.close();
      }
    },
  },
];
