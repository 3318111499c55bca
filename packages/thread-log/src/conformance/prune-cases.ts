import { expect } from "vitest";
import { leased, type RegistryCase, resume } from "./registry-scene.js";

const DAY_MS = 86_400_000;

/** What a registry forgets by itself, and what it counts over all instances. */
export const pruneCases: readonly RegistryCase[] = [
  {
    name: "counts an account's running and waiting runs, whichever instance has them",
    async run({ registry, another, thread, request }) {
      expect(await registry.countOpen(thread.account)).toBe(0);
      const first = leased(await registry.start(request()));
      await another.start(request({ strategy: "enqueue" }));
      leased(await another.start(request({ thread: { ...thread, subject: "ann" } })));
      expect(await registry.countOpen(thread.account)).toBe(3);
      await another.finish(first.fence, { status: "success" });
      expect(await registry.countOpen(thread.account)).toBe(2);
      expect(await registry.countOpen(`${thread.account}x`)).toBe(0);
    },
  },
  {
    name: "R20: forgets runs that ended long ago, and their aliases, but none that is open",
    async run({ registry, another, fixture, thread, request }) {
      const past = leased(await registry.start(request({ alias: "past" })));
      await registry.finish(past.fence, { status: "success" });
      await fixture.pass(DAY_MS);
      const recent = leased(await registry.start(request({ alias: "recent" })));
      await registry.finish(recent.fence, { status: "error" });
      const open = leased(await registry.start(request({ alias: "open" })));
      const waiting = request({ strategy: "enqueue" });
      await another.start(waiting);
      await another.pruneEnded(DAY_MS / 2, 1_000);
      const left = (await registry.list(thread, 10)).map(({ runId }) => runId);
      expect(left).toEqual([waiting.runId, open.run.runId, recent.run.runId]);
      expect(await another.find(thread, { alias: "past" })).toBeUndefined();
      await registry.finish(open.fence, { status: "success" });
      expect(await another.start(request({ alias: "recent" }))).toMatchObject({ kind: "attached" });
      expect(await another.start(request({ alias: "past", strategy: "enqueue" }))).not.toMatchObject({
        kind: "attached",
      });
    },
  },
  {
    name: "R20: forgets no more at once than it is asked to, oldest first",
    async run({ registry, fixture, thread, request }) {
      // What other cases left behind is older or as old, and goes first.
      await fixture.pass(1_000);
      while ((await registry.pruneEnded(0, 1_000)) > 0);
      for (const alias of ["a", "b", "c"]) {
        const { fence } = leased(await registry.start(request({ alias })));
        await registry.finish(fence, { status: "success" });
        await fixture.pass(1_000);
      }
      expect(await registry.pruneEnded(500, 2)).toBe(2);
      expect((await registry.list(thread, 10)).map(({ alias }) => alias)).toEqual(["c"]);
      expect(await registry.pruneEnded(500, 2)).toBe(1);
      expect(await registry.pruneEnded(500, 2)).toBe(0);
    },
  },
  {
    name: "R20, R28: keeps a run whose question is open, however old, and forgets answers with the run that gave them",
    async run({ registry, fixture, thread, request }) {
      const asking = leased(await registry.start(request()));
      await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1"] });
      await fixture.pass(DAY_MS);
      await registry.pruneEnded(1_000, 1_000);
      expect(await registry.openInterrupts(thread)).toEqual([{ interruptId: "i1", runId: asking.run.runId }]);
      expect(await registry.find(thread, { runId: asking.run.runId })).toMatchObject({
        status: "interrupted",
      });
      const answering = leased(await registry.start(request({ start: resume({ i1: true }) })));
      await registry.finish(answering.fence, { status: "success" });
      await fixture.pass(DAY_MS);
      await registry.pruneEnded(1_000, 1_000);
      expect(await registry.list(thread, 10)).toEqual([]);
      expect(await registry.start(request({ start: resume({ i1: true }) }))).toEqual({
        kind: "conflict",
        interruptIds: ["i1"],
      });
    },
  },
  {
    name: "R20, R25: forgets stops that nothing came for",
    async run({ registry, another, fixture, thread, request }) {
      await registry.stop(thread, { alias: "never" });
      await registry.pruneEnded(DAY_MS, 1);
      expect(await another.start(request({ alias: "never" }))).toMatchObject({ kind: "cancelled" });
      await registry.stop(thread, { alias: "late" });
      await fixture.pass(120_000);
      expect(await fixture.stops()).toBeGreaterThan(0);
      await another.pruneEnded(DAY_MS, 1);
      expect(await fixture.stops()).toBe(0);
    },
  },
  {
    name: "R20: forgets an old run whose thread waits for the answer to another run's question",
    async run({ registry, fixture, thread, request }) {
      const past = leased(await registry.start(request()));
      await registry.finish(past.fence, { status: "success" });
      const asking = leased(await registry.start(request()));
      await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1"] });
      await fixture.pass(DAY_MS);
      await registry.pruneEnded(1_000, 1_000);
      expect((await registry.list(thread, 10)).map(({ runId }) => runId)).toEqual([asking.run.runId]);
    },
  },
];
