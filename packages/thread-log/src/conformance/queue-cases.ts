import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { LeasedRun } from "../registry/run-registry.js";
import { eventually } from "./eventually.js";
import { hello, leased, type RegistryCase, resume } from "./registry-scene.js";

const lease = { owner: "here", leaseMs: 60_000 };

/** Who may run, and in which order: R24, R25, R28. */
export const queueCases: readonly RegistryCase[] = [
  {
    name: "starts a run, keeps everything a driver needs, and finds it by either name",
    async run({ registry, another, thread, request }) {
      const asked = request({ alias: "mine", origin: { kind: "cron", id: "c1" }, upstreamRunId: "u1" });
      const { run, fence } = leased(await registry.start(asked));
      expect(fence).toMatchObject({ threadId: thread.threadId, runId: asked.runId });
      expect(run).toMatchObject({
        thread,
        runId: asked.runId,
        alias: "mine",
        graphId: "langgraph:chat",
        origin: { kind: "cron", id: "c1" },
        status: "running",
        start: hello,
        request: asked.request,
        attempt: 0,
        crashes: 0,
        owner: "here",
        upstreamRunId: "u1",
        stopRequested: false,
      });
      expect(await another.find(thread, { runId: asked.runId })).toEqual(run);
      expect(await another.find(thread, { alias: "mine" })).toEqual(run);
      expect(await another.active(thread)).toEqual(run);
      expect(await another.find({ ...thread, account: "other" }, { runId: asked.runId })).toBeUndefined();
      expect(await another.active({ ...thread, subject: "ann" })).toBeUndefined();
    },
  },
  {
    name: "R24: rejects a second run as busy and says who is in the way",
    async run({ registry, another, request }) {
      const first = request();
      await registry.start(first);
      expect(await another.start(request())).toEqual({
        kind: "busy",
        runId: first.runId,
        retryAfterMs: expect.any(Number),
      });
    },
  },
  {
    name: "R24: of many that start at once exactly one runs",
    async run({ registry, another, thread, request }) {
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 ? registry : another).start(request())),
      );
      expect(results.filter(({ kind }) => kind === "started")).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === "busy")).toHaveLength(9);
      expect((await registry.list(thread, 100)).map(({ status }) => status)).toEqual(["running"]);
    },
  },
  {
    name: "R24: takes enqueued runs in the order they came, one at a time",
    async run({ registry, another, thread, request }) {
      let { fence } = leased(await registry.start(request()));
      const waiting = Array.from({ length: 3 }, () => request({ strategy: "enqueue" }));
      for (const [index, each] of waiting.entries()) {
        expect(await another.start(each)).toMatchObject({
          kind: "queued",
          ahead: index + 1,
          preempted: undefined,
        });
      }
      expect(await registry.claimNext(thread, lease)).toBeUndefined();
      for (const { runId } of waiting) {
        expect(await registry.finish(fence, { status: "success" })).toEqual({ ok: true, next: runId });
        const claims = await Promise.all([
          registry.claimNext(thread, lease),
          another.claimNext(thread, lease),
        ]);
        const [claim, ...none] = claims.filter((each) => each !== undefined);
        expect(none).toEqual([]);
        expect(claim?.run).toMatchObject({ runId, status: "running", start: hello });
        expect(claim?.fence.token).toBeGreaterThan(fence.token);
        if (claim) fence = claim.fence;
      }
      expect(await registry.finish(fence, { status: "success" })).toEqual({ ok: true, next: undefined });
      expect(await registry.claimNext(thread, lease)).toBeUndefined();
    },
  },
  {
    name: "R24: a run that preempts stops the open one and goes before what waits",
    async run({ registry, another, thread, request }) {
      const first = request();
      const { fence } = leased(await registry.start(first));
      const patient = request({ strategy: "enqueue" });
      await registry.start(patient);
      const told: string[] = [];
      const forget = registry.onStop((runId) => told.push(runId));
      const urgent = request({ strategy: "preempt" });
      expect(await another.start(urgent)).toMatchObject({ kind: "queued", ahead: 1, preempted: first.runId });
      await eventually(() => expect(told).toEqual([first.runId]));
      forget();
      expect(await registry.heartbeat([fence], lease)).toEqual({ lost: [], stopping: [first.runId] });
      await registry.finish(fence, { status: "cancelled" });
      const next = await registry.claimNext(thread, lease);
      expect(next?.run.runId).toBe(urgent.runId);
      if (next) await registry.finish(next.fence, { status: "success" });
      expect((await registry.claimNext(thread, lease))?.run.runId).toBe(patient.runId);
    },
  },
  {
    name: "R25: the same alias is the same run, whoever asks, also when it has ended",
    async run({ registry, another, request }) {
      const asked = request({ alias: "again" });
      const { run, fence } = leased(await registry.start(asked));
      const results = await Promise.all([
        registry.start(request({ alias: "again" })),
        another.start(request({ alias: "again", strategy: "preempt" })),
        another.start(asked),
      ]);
      for (const result of results) expect(result).toEqual({ kind: "attached", run });
      await registry.finish(fence, { status: "success" });
      expect(await another.start(request({ alias: "again" }))).toMatchObject({
        kind: "attached",
        run: { runId: run.runId, status: "success" },
      });
    },
  },
  {
    name: "R25: an alias is a name within its thread",
    async run({ registry, thread, request }) {
      leased(await registry.start(request({ alias: "one" })));
      for (const elsewhere of [
        { ...thread, threadId: randomUUID() },
        { ...thread, subject: "ann" },
      ]) {
        leased(await registry.start(request({ alias: "one", thread: elsewhere })));
      }
      await expect(registry.start(request({ alias: "a\u0000b" }))).rejects.toMatchObject({
        code: "invalid_input",
      });
    },
  },
  {
    name: "R25: a stop asks what runs, cancels what waits, and knows what has ended",
    async run({ registry, another, thread, request }) {
      const first = request({ alias: "first" });
      const { fence } = leased(await registry.start(first));
      const second = request({ strategy: "enqueue" });
      await registry.start(second);
      const told: string[] = [];
      const forget = registry.onStop((runId) => told.push(runId));
      expect(await another.stop(thread, { alias: "first" })).toMatchObject({
        kind: "stopping",
        run: { runId: first.runId, stopRequested: true },
      });
      await eventually(() => expect(told).toEqual([first.runId]));
      forget();
      expect(await another.stop(thread, { runId: second.runId })).toMatchObject({
        kind: "cancelled",
        run: { status: "cancelled", start: undefined },
      });
      expect(await registry.finish(fence, { status: "cancelled" })).toEqual({ ok: true, next: undefined });
      expect(await another.stop(thread, { runId: first.runId })).toMatchObject({ kind: "ended" });
    },
  },
  {
    name: "R25: a stop that arrives before its run cancels it on arrival, for a while",
    async run({ registry, another, fixture, thread, request }) {
      expect(await another.stop(thread, { alias: "early" })).toEqual({ kind: "unknown" });
      expect(await registry.start(request({ alias: "early" }))).toMatchObject({
        kind: "cancelled",
        run: { status: "cancelled", alias: "early" },
      });
      leased(await registry.start(request({ alias: "other" })));
      await another.stop(thread, { alias: "much later" });
      await fixture.pass(120_000);
      expect(await registry.start(request({ alias: "much later", strategy: "enqueue" }))).toMatchObject({
        kind: "queued",
      });
    },
  },
  {
    name: "R28: uses an answer once: the same again attaches, another is a conflict",
    async run({ registry, another, thread, request }) {
      const { fence } = leased(await registry.start(request()));
      await registry.finish(fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      expect((await another.openInterrupts(thread)).map(({ interruptId }) => interruptId)).toEqual([
        "i1",
        "i2",
      ]);
      expect(await another.start(request({ strategy: "enqueue" }))).toEqual({
        kind: "interrupt_pending",
        interruptIds: ["i1", "i2"],
      });
      const answer = { i1: { yes: true, to: [1] }, i2: "b" };
      const results = await Promise.all(
        [registry, another, registry, another].map((each) => each.start(request({ start: resume(answer) }))),
      );
      const started = results.filter(({ kind }) => kind === "started");
      expect(started).toHaveLength(1);
      const resuming = started[0]?.kind === "started" ? started[0] : undefined;
      if (!resuming) return expect.unreachable();
      for (const other of results.filter((each) => each !== resuming)) {
        expect(other).toMatchObject({ kind: "attached", run: { runId: resuming.run.runId } });
      }
      expect(await registry.start(request({ start: resume({ ...answer, i2: "c" }) }))).toEqual({
        kind: "conflict",
        interruptIds: ["i1", "i2"],
      });
      expect(await another.openInterrupts(thread)).toEqual([]);
      await registry.finish(resuming.fence, { status: "success" });
      expect(await registry.start(request({ start: resume(answer) }))).toMatchObject({ kind: "attached" });
      leased(await registry.start(request()));
    },
  },
  {
    name: "R28: an answer nobody asked for is a conflict, and an interrupt raised again is open again",
    async run({ registry, thread, request }) {
      expect(await registry.start(request({ start: resume({ nope: 1 }) }))).toEqual({
        kind: "conflict",
        interruptIds: ["nope"],
      });
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1"] });
      const second = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.finish(second.fence, { status: "interrupted", interrupts: ["i1"] });
      expect(await registry.openInterrupts(thread)).toEqual([{ interruptId: "i1", runId: second.run.runId }]);
      leased(await registry.start(request({ start: resume({ i1: 1 }) })));
    },
  },
  {
    name: "R28: enqueued input waits until the interrupt before it is answered",
    async run({ registry, thread, request }) {
      const first = leased(await registry.start(request()));
      const patient = request({ strategy: "enqueue" });
      await registry.start(patient);
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1"] });
      expect(await registry.claimNext(thread, lease)).toBeUndefined();
      const answering = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.finish(answering.fence, { status: "success" });
      expect((await registry.claimNext(thread, lease))?.run.runId).toBe(patient.runId);
    },
  },
  {
    name: "R24: a run that preempts does not wait for an answer: the question is set aside",
    async run({ registry, another, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1"] });
      const wayOut = leased(await another.start(request({ strategy: "preempt" })));
      expect(await registry.openInterrupts(thread)).toEqual([]);
      expect(await registry.start(request({ start: resume({ i1: 1 }) }))).toMatchObject({ kind: "conflict" });
      const patient = request({ strategy: "enqueue" });
      await registry.start(patient);
      const urgent = request({ strategy: "preempt" });
      await registry.start(urgent);
      await registry.finish(wayOut.fence, { status: "interrupted", interrupts: ["i2"] });
      const next = await another.claimNext(thread, lease);
      expect(next?.run.runId).toBe(urgent.runId);
      expect(await registry.openInterrupts(thread)).toEqual([]);
      if (next) await registry.finish(next.fence, { status: "success" });
      expect((await registry.claimNext(thread, lease))?.run.runId).toBe(patient.runId);
    },
  },
  {
    name: "tells what is open in a thread: what runs, then what waits, in its order",
    async run({ registry, another, thread, request }) {
      expect(await another.open(thread)).toEqual([]);
      const running = request();
      const { fence } = leased(await registry.start(running));
      const waiting = [request({ strategy: "enqueue" }), request({ strategy: "enqueue" })] as const;
      for (const each of waiting) await registry.start(each);
      const urgent = request({ strategy: "preempt" });
      await registry.start(urgent);
      const open = async () => (await another.open(thread)).map(({ runId }) => runId);
      expect(await open()).toEqual([running, urgent, ...waiting].map(({ runId }) => runId));
      const told: string[] = [];
      const forget = registry.onStop((runId) => told.push(runId));
      await another.stop(thread, { runId: waiting[0].runId });
      await eventually(() => expect(told).toContain(waiting[0].runId));
      forget();
      await registry.finish(fence, { status: "success" });
      expect(await open()).toEqual([urgent.runId, waiting[1].runId]);
    },
  },
  {
    name: "forgets a deleted thread's runs and asks the one that runs to stop",
    async run({ registry, another, instance, thread, request }) {
      const done = leased(await registry.start(request({ alias: "done" })));
      await registry.finish(done.fence, { status: "interrupted", interrupts: ["i1"] });
      const open = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.start(request({ strategy: "enqueue" }));
      await instance.store.deleteThread(thread);
      expect(await another.deleteThread(thread)).toBe(open.run.runId);
      expect((await registry.list(thread, 10)).map(({ runId }) => runId)).toEqual([open.run.runId]);
      expect(await registry.heartbeat([open.fence], lease)).toEqual({ lost: [], stopping: [open.run.runId] });
      await expect(registry.assertHeld(open.fence)).rejects.toMatchObject({ code: "conflict" });
      expect(await registry.finish(open.fence, { status: "cancelled" })).toEqual({
        ok: true,
        next: undefined,
      });
      expect(await registry.deleteThread(thread)).toBeUndefined();
      expect(await registry.list(thread, 10)).toEqual([]);
      const anew = leased(await registry.start(request()));
      expect(anew.fence.token).toBeGreaterThan(open.fence.token);
      expect(await registry.deleteAccount(thread.account)).toEqual([anew.run.runId]);
      expect(await registry.deleteAccount("nobody")).toEqual([]);
    },
  },
  {
    name: "forgets what a deleted thread's dead driver left running, and lets nobody take it over",
    async run({ registry, another, instance, fixture, thread, request }) {
      const left = leased(await registry.start(request({ leaseMs: 5 })));
      await registry.stop(thread, { alias: "not here yet" });
      await fixture.pass(10);
      await instance.store.deleteThread(thread);
      const mine = (runs: readonly LeasedRun[]) => runs.filter(({ run }) => run.runId === left.run.runId);
      expect(mine(await another.claimExpired(lease, 1_000))).toEqual([]);
      expect(await another.deleteThread(thread)).toBeUndefined();
      expect(await registry.list(thread, 10)).toEqual([]);
      expect(await registry.heartbeat([left.fence], lease)).toEqual({
        lost: [left.run.runId],
        stopping: [],
      });
      const stopped = await registry.start(request({ alias: "not here yet" }));
      expect(stopped.kind).toBe("started");
    },
  },
];
