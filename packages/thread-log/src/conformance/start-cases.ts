import { expect } from "vitest";
import type { StartRun } from "../registry/run-registry.js";
import { newThread, notes } from "./log-scene.js";
import { leased, type RegistryCase, resume } from "./registry-scene.js";

const lease = { owner: "here", leaseMs: 60_000 };
const lookFor = ({ thread, runId, alias, start }: StartRun) => ({
  thread,
  runId,
  alias,
  answers: start.kind === "resume" ? Object.keys(start.answers) : [],
});

/** A look, and a write that holds only while the look does. */
export const startCases: readonly RegistryCase[] = [
  {
    name: "a run is found in its account by its id alone, whose thread it is in, and in no other account",
    async run({ registry, another, thread, request }) {
      const { run } = leased(await registry.start(request({ thread: { ...thread, subject: "ann" } })));
      expect(await another.findInAccount(thread.account, run.runId)).toMatchObject({
        runId: run.runId,
        thread: { ...thread, subject: "ann" },
      });
      expect(await another.findInAccount(`${thread.account}-other`, run.runId)).toBeUndefined();
      expect(await another.findInAccount(thread.account, "no-run")).toBeUndefined();
    },
  },
  {
    name: "a look tells everything a start needs: runs, stops, questions, the log's head, what the account has open",
    async run({ registry, another, log, thread, request }) {
      const asked = request({ alias: "mine" });
      expect(await another.look(lookFor(asked))).toEqual({
        runs: {
          same: undefined,
          stopped: false,
          running: undefined,
          queued: [],
          preempting: 0,
          interrupts: [],
        },
        same: undefined,
        revision: 0,
        head: undefined,
        openRuns: 0,
        isClosed: false,
      });
      const { run, fence } = leased(await registry.start(asked));
      await log.append(thread, notes(thread, "a", "b"), fence);
      const waiting = [request({ strategy: "enqueue" }), request({ strategy: "preempt" })] as const;
      for (const each of waiting) await registry.start(each);
      leased(await registry.start(request({ thread: { ...thread, subject: "ann" } })));
      const busy = await another.look(lookFor(request({ alias: "mine" })));
      expect(busy).toMatchObject({
        runs: {
          same: run.runId,
          running: run.runId,
          queued: [waiting[1].runId, waiting[0].runId],
          preempting: 1,
        },
        same: { runId: run.runId, alias: "mine", status: "running", stopRequested: true },
        head: await log.head(thread),
        openRuns: 4,
      });
      expect(busy.head).toMatchObject({ seq: 2 });
      expect(await another.look({ ...lookFor(asked), account: "other" })).toMatchObject({ openRuns: 0 });
      for (const { runId } of waiting) await registry.stop(thread, { runId });
      await registry.finish(fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.stop(thread, { alias: "early" });
      const after = await another.look({ ...lookFor(request({ alias: "early" })), answers: ["i1"] });
      expect(after.runs).toMatchObject({
        stopped: true,
        interrupts: [
          { interruptId: "i1", answeredBy: expect.any(String), answer: "1" },
          { interruptId: "i2", answeredBy: undefined, answer: undefined },
        ],
      });
    },
  },
  {
    name: "every change of a thread's runs, stops or questions moves its revision, and an append does not",
    async run({ registry, another, log, thread, request }) {
      let last = -1;
      const moved = async () => {
        const { revision } = await another.look(lookFor(request()));
        expect(revision).toBeGreaterThan(last);
        last = revision;
      };
      await moved();
      const first = leased(await registry.start(request()));
      await moved();
      await registry.start(request({ strategy: "enqueue" }));
      await moved();
      await registry.stop(thread, { runId: first.run.runId });
      await moved();
      await registry.finish(first.fence, { status: "success" });
      await moved();
      const second = await registry.claimNext(thread, lease);
      await moved();
      if (!second) return expect.unreachable();
      await registry.release(second.fence);
      await moved();
      const third = (await registry.claimExpired(lease, 1_000)).find(
        ({ run }) => run.runId === second.run.runId,
      );
      await moved();
      if (!third) return expect.unreachable();
      await log.append(thread, notes(thread, "a"), third.fence);
      await registry.heartbeat([third.fence], lease);
      expect((await another.look(lookFor(request()))).revision).toBe(last);
      await registry.stop(thread, { alias: "not here yet" });
      await moved();
      await registry.start(request({ alias: "not here yet" }));
      await moved();
      await registry.deleteThread(thread);
      await moved();
    },
  },
  {
    name: "a start takes the look it is given, and looks again when that does not hold any more",
    async run({ registry, another, thread, request }) {
      const [first, second] = [request(), request()];
      const look = await registry.look(lookFor(first));
      const late = await another.look(lookFor(second));
      leased(await registry.start(first, look));
      expect(await another.start(second, late)).toMatchObject({ kind: "busy", runId: first.runId });
      const stopped = request({ alias: "stopped meanwhile", strategy: "enqueue" });
      const before = await registry.look(lookFor(stopped));
      await another.stop(thread, { alias: "stopped meanwhile" });
      expect(await registry.start(stopped, before)).toMatchObject({ kind: "cancelled" });
    },
  },
  {
    name: "R24: of many that start at once, however they want to, one runs and none is lost or doubled",
    async run({ registry, another, thread, request }) {
      const asked = Array.from({ length: 24 }, (_, n) => [
        request(),
        request({ strategy: "enqueue" }),
        request({ strategy: "enqueue", alias: `twice-${n >> 1}` }),
      ]).flat();
      const results = await Promise.all(
        asked.map((each, n) => (n % 2 === 0 ? registry : another).start(each)),
      );
      const [started, ...others] = results.flatMap((result) => (result.kind === "started" ? [result] : []));
      expect(others).toEqual([]);
      if (!started) return expect.unreachable();
      const queued = results.flatMap((result) => (result.kind === "queued" ? [result] : []));
      const made = [started, ...queued].map(({ run }) => run.runId);
      const open = await registry.open(thread);
      expect(open.map(({ runId }) => runId).sort()).toEqual(made.toSorted());
      expect(queued.map(({ ahead }) => ahead).sort((a, b) => a - b)).toEqual(queued.map((_, n) => n + 1));
      for (const [n, result] of results.entries()) {
        if (result.kind === "busy" || result.kind === "attached") {
          const runId = result.kind === "busy" ? result.runId : result.run.runId;
          expect(made).toContain(runId);
        }
        if (asked[n]?.alias !== undefined) expect(["started", "queued", "attached"]).toContain(result.kind);
        else if (asked[n]?.strategy === "enqueue") expect(["started", "queued"]).toContain(result.kind);
        else expect(["started", "busy"]).toContain(result.kind);
      }
      const aliases = open.flatMap(({ alias }) => (alias === undefined ? [] : [alias]));
      expect(aliases.toSorted()).toEqual(Array.from({ length: 12 }, (_, n) => `twice-${n}`).sort());
    },
  },
  {
    name: "lets nothing start in a scope that is closed, and everything beside it",
    async run({ registry, another, fixture, thread, request }) {
      const { account } = thread;
      const own = { ...thread, subject: "ann" };
      const kindOf = async (wanted: Partial<StartRun>) => {
        const asked = request({ ...wanted, strategy: "enqueue" });
        const result = await another.start(asked).catch((error: { readonly code: string }) => error.code);
        return typeof result === "string" ? result : result.kind;
      };
      const inThread = () => kindOf({});
      const beside = () => kindOf({ thread: newThread(account) });
      const alone = () => kindOf({ thread: own });
      const look = await registry.look(lookFor(request()));
      expect(look.isClosed).toBe(false);
      await fixture.closeScope(`${account} one`, { ...thread, subject: "" });
      expect(await registry.look(lookFor(request()))).toMatchObject({ isClosed: true });
      await expect(registry.start(request(), look)).rejects.toMatchObject({
        code: "conflict",
        details: { reason: "deleting", retryAfterMs: expect.any(Number) },
      });
      expect(await registry.look(lookFor(request()))).toMatchObject({ revision: 0, head: undefined });
      expect([await inThread(), await beside(), await alone()]).toEqual(["conflict", "started", "started"]);
      await fixture.openScope(`${account} one`);
      expect(await inThread()).toBe("started");
      await fixture.closeScope(`${account} ann`, { account, subject: "ann" });
      expect([await beside(), await alone()]).toEqual(["started", "conflict"]);
      await fixture.closeScope(`${account} shared`, { account, subject: "" });
      await fixture.openScope(`${account} ann`);
      expect([await inThread(), await alone()]).toEqual(["conflict", "queued"]);
      await fixture.openScope(`${account} shared`);
      // Again under the same id changes nothing.
      for (const _ of ["once", "again"]) await fixture.closeScope(`${account} all`, { account });
      expect([await inThread(), await beside(), await alone()]).toEqual(["conflict", "conflict", "conflict"]);
      expect(await kindOf({ thread: newThread() })).toBe("started");
      await fixture.openScope(`${account} all`);
      expect(await alone()).toBe("queued");
    },
  },
  {
    name: "a scope that is closed after a look keeps out what was decided by it, whichever part of the key it names",
    async run({ registry, another, fixture, thread, request }) {
      const own = { ...thread, subject: "ann" };
      const { account, threadId } = own;
      const closed = [{ account }, { account, subject: "ann" }, { account, subject: "ann", threadId }];
      const open = [
        { account: `${account}-b`, subject: "ann", threadId },
        { account, subject: "bob", threadId },
        { account, subject: "ann", threadId: `${threadId}-b` },
      ];
      for (const [n, scope] of [...closed, ...open].entries()) {
        const asked = request({ thread: own, strategy: "enqueue" });
        const look = await registry.look(lookFor(asked));
        expect(look.isClosed).toBe(false);
        await fixture.closeScope(`${account} ${n}`, scope);
        const isClosed = n < closed.length;
        expect((await another.look(lookFor(asked))).isClosed).toBe(isClosed);
        const started = registry.start(asked, look);
        if (isClosed) await expect(started).rejects.toMatchObject({ code: "conflict" });
        else expect((await started).kind).toMatch(/started|queued/);
        await fixture.openScope(`${account} ${n}`);
      }
    },
  },
  {
    name: "a look tells of the questions that are open and of those that are answered now, and of no other thread's run",
    async run({ registry, another, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1", "i2", "i3"] });
      const answering = leased(await registry.start(request({ start: resume({ i1: 1, i2: 2 }) })));
      const ids = async (...answers: readonly string[]) =>
        (await another.look({ thread, runId: "none", answers })).runs.interrupts.map(
          ({ interruptId }) => interruptId,
        );
      expect(await ids()).toEqual(["i3"]);
      expect(await ids("i2")).toEqual(["i2", "i3"]);
      const queue = [];
      for (const strategy of ["enqueue", "enqueue", "preempt", "preempt"] as const) {
        const waits = request({ strategy });
        await registry.start(waits);
        queue.push(waits.runId);
      }
      const { runs } = await another.look({ thread, runId: "none", answers: [] });
      expect(runs.queued).toEqual([queue[2], queue[3], queue[0], queue[1]]);
      const runId = answering.run.runId;
      expect(await another.look({ thread, runId, answers: [] })).toMatchObject({ same: { runId } });
      for (const other of [
        { ...thread, account: `${thread.account}-b` },
        { ...thread, subject: "ann" },
        { ...thread, threadId: `${thread.threadId}-b` },
      ]) {
        expect(await another.look({ thread: other, runId, answers: [] })).toMatchObject({
          same: undefined,
          runs: { same: undefined },
        });
      }
    },
  },
  {
    name: "a run that a stop came before has ended, and a stop that comes again counts from then on",
    async run({ registry, fixture, thread, request }) {
      await registry.stop(thread, { alias: "early" });
      expect(await registry.start(request({ alias: "early" }))).toMatchObject({
        kind: "cancelled",
        run: { status: "cancelled", endedAt: expect.any(Number), owner: undefined, leaseUntil: undefined },
      });
      for (const _ of ["first", "again"]) {
        await registry.stop(thread, { alias: "late" });
        await fixture.pass(40_000);
      }
      expect(await registry.start(request({ alias: "late" }))).toMatchObject({ kind: "cancelled" });
      await registry.stop(thread, { alias: "too late" });
      await fixture.pass(61_000);
      leased(await registry.start(request({ alias: "too late" })));
    },
  },
  {
    name: "R28: a stop of an answer that waits opens its own questions again, and no others",
    async run({ registry, thread, request }) {
      const asking = leased(await registry.start(request()));
      await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      const waiting = request({ start: resume({ i2: 2 }), strategy: "enqueue" });
      expect(await registry.start(waiting)).toMatchObject({ kind: "queued" });
      expect(await registry.openInterrupts(thread)).toEqual([]);
      await registry.stop(thread, { runId: waiting.runId });
      expect(await registry.openInterrupts(thread)).toEqual([{ interruptId: "i2", runId: asking.run.runId }]);
    },
  },
  {
    name: "a start lists its thread: running under its token, with the first title that came",
    async run({ registry, directory, thread, request }) {
      const named = (derivedTitle?: string) => ({ threadName: "main", derivedTitle });
      const first = leased(await registry.start(request({ listing: named() })));
      expect(await directory.find(thread)).toMatchObject({
        status: "running",
        lastRunId: first.run.runId,
        token: first.fence.token,
        title: undefined,
      });
      const waiting = request({ strategy: "enqueue", listing: named("needle") });
      await registry.start(waiting);
      expect(await directory.find(thread)).toMatchObject({
        status: "running",
        lastRunId: first.run.runId,
        token: first.fence.token,
        title: "needle",
      });
      await registry.stop(thread, { runId: waiting.runId });
      await registry.finish(first.fence, { status: "error" });
      const second = leased(await registry.start(request({ listing: named("haystack") })));
      expect(await directory.find(thread)).toMatchObject({
        status: "running",
        lastRunId: second.run.runId,
        token: second.fence.token,
        title: "needle",
      });
      const found = async (search: string) =>
        (await directory.list({ account: thread.account }, { search, limit: 9 })).threads.length;
      expect([await found("needle"), await found("haystack")]).toEqual([1, 0]);
    },
  },
];
