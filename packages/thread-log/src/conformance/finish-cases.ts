import { expect } from "vitest";
import { encodeEnvelope } from "../log/entries.js";
import type { StoreAppend } from "../log/log-store.js";
import { notes, readAll, runEnd, textOf } from "./log-scene.js";
import { leased, type RegistryCase, resume } from "./registry-scene.js";

const lease = { owner: "here", leaseMs: 60_000 };

/** How a run ends together with its log: R2, R17, R28. */
export const finishCases: readonly RegistryCase[] = [
  {
    name: "an append may finish its run: row, questions, listing and what waits next are of the same commit",
    async run({ registry, another, log, directory, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      const { run, fence } = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      const waiting = request({ strategy: "enqueue" });
      await another.start(waiting);
      await log.append(thread, notes(thread, "a"), fence);
      const ended = await log.append(thread, [...notes(thread, "b"), runEnd(thread, run.runId)], fence, {
        finish: {
          status: "interrupted",
          interrupts: ["i3", "i3"],
          upstreamRunId: "up-1",
        },
      });
      expect(ended).toMatchObject({ ok: true, first: 2, last: 3, next: waiting.runId });
      expect(await another.find(thread, run)).toMatchObject({
        status: "interrupted",
        upstreamRunId: "up-1",
        owner: undefined,
        leaseUntil: undefined,
        start: undefined,
        endedAt: expect.any(Number),
      });
      expect(await another.openInterrupts(thread)).toEqual([{ interruptId: "i3", runId: run.runId }]);
      expect(await directory.find(thread)).toMatchObject({ status: "waiting", lastRunId: run.runId });
      expect(await registry.finish(fence, { status: "error" })).toEqual({ ok: false, reason: "ended" });
      expect(await log.terminal(thread, run.runId)).toMatchObject({ seq: 3 });
    },
  },
  {
    name: "an append that finishes keeps the upstream's id that was known before, and tells when nothing waits",
    async run({ registry, log, directory, thread, request }) {
      const { run, fence } = leased(await registry.start(request({ upstreamRunId: "up-1" })));
      const ended = await log.append(thread, [runEnd(thread, run.runId)], fence, {
        finish: { status: "success" },
      });
      expect(ended).toEqual({ ok: true, epoch: expect.any(String), first: 1, last: 1, next: undefined });
      expect(await registry.find(thread, run)).toMatchObject({ status: "success", upstreamRunId: "up-1" });
      expect(await directory.find(thread)).toMatchObject({ status: "idle" });
    },
  },
  {
    name: "many runs that end at once each end with their own log",
    async run({ registry, log, thread, request }) {
      const started = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const own = { ...thread, threadId: `${thread.threadId}-${n}` };
          return leased(await registry.start(request({ thread: own })));
        }),
      );
      const results = await Promise.all(
        started.map(({ run, fence }, n) =>
          n % 3 === 0
            ? log.append(run.thread, notes(run.thread, "goes on"), fence)
            : log.append(run.thread, [runEnd(run.thread, run.runId)], fence, {
                finish: {
                  status: n % 3 === 1 ? "interrupted" : "error",
                  interrupts: n % 3 === 1 ? [`i${n}`] : [],
                },
              }),
        ),
      );
      expect(results.every(({ ok }) => ok)).toBe(true);
      for (const [n, { run }] of started.entries()) {
        const status = ["running", "interrupted", "error"][n % 3];
        expect(await registry.find(run.thread, run)).toMatchObject({ status });
        const open = n % 3 === 1 ? [{ interruptId: `i${n}`, runId: run.runId }] : [];
        expect(await registry.openInterrupts(run.thread)).toEqual(open);
      }
    },
  },
  {
    name: "a commit with a finish that is tried again answers as it did the first time, and writes nothing",
    async run({ registry, another, instance, log, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      const waiting = request({ strategy: "enqueue" });
      await another.start(waiting);
      const text = JSON.stringify(runEnd(thread, run.runId));
      const append: StoreAppend = {
        thread,
        token: fence.token,
        appendId: "the-same",
        entries: [{ text, bytes: Buffer.byteLength(text), endOfRun: run.runId }],
        finish: { runId: run.runId, status: "interrupted", interrupts: ["i1"] },
      };
      const first = await instance.store.commit([append]);
      expect(first).toMatchObject([{ ok: true, first: 1, last: 1, next: waiting.runId }]);
      const ended = await registry.find(thread, run);
      expect(await instance.store.commit([append])).toEqual(first);
      expect(await registry.find(thread, run)).toEqual(ended);
      expect(await readAll(log, thread)).toEqual(["run_end"]);
    },
  },
  {
    name: "R17: a driver that lost its run can't finish it with an append",
    async run({ registry, another, log, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      await registry.release(fence);
      const claims = await another.claimExpired(lease, 1_000);
      const heir = claims.find((claim) => claim.run.runId === run.runId);
      if (!heir) return expect.unreachable();
      const end = [runEnd(thread, run.runId)];
      const refused = { ok: false, reason: "fenced" };
      expect(await log.append(thread, end, fence, { finish: { status: "error" } })).toEqual(refused);
      expect(await registry.find(thread, run)).toMatchObject({ status: "running", attempt: 1 });
      expect(await readAll(log, thread)).toEqual([]);
      expect(await log.append(thread, end, heir.fence, { finish: { status: "success" } })).toMatchObject({
        ok: true,
      });
    },
  },
  {
    name: "a run that has ended is not ended again by an append",
    async run({ registry, log, thread, request }) {
      const { run, fence } = leased(await registry.start(request()));
      await log.append(thread, notes(thread, "a"), fence);
      await registry.finish(fence, { status: "success" });
      const again = await log.append(thread, [runEnd(thread, run.runId)], fence, {
        finish: { status: "error" },
      });
      expect(again).toEqual({ ok: false, reason: "fenced" });
      expect(await readAll(log, thread)).toEqual(["a"]);
      expect(await registry.find(thread, run)).toMatchObject({ status: "success" });
    },
  },
  {
    name: "R2: a reader that sees the end of a run in the log never sees the run running",
    async run({ registry, another, log, anotherLog, thread, request }) {
      const runs = 15;
      const seen: string[] = [];
      const reading = (async () => {
        for await (const event of anotherLog.tail(thread, undefined)) {
          if (event.kind !== "entries") return;
          for (const entry of event.entries) {
            if (textOf(entry) !== "run_end") continue;
            const run = await another.find(thread, { runId: entry.envelope.run_id });
            seen.push(run?.status ?? "gone");
          }
          if (seen.length === runs) return;
        }
      })();
      for (let n = 0; n < runs; n++) {
        const { run, fence } = leased(await registry.start(request()));
        await log.append(thread, [runEnd(thread, run.runId)], fence, { finish: { status: "success" } });
      }
      await reading;
      expect(seen).toEqual(Array.from({ length: runs }, () => "success"));
    },
  },
  {
    name: "R24: a run that is enqueued while another ends starts at once, or is what its end says comes next",
    async run({ registry, another, log, thread, request }) {
      for (let n = 0; n < 20; n++) {
        const own = { ...thread, threadId: `${thread.threadId}-${n}` };
        const { run, fence } = leased(await registry.start(request({ thread: own })));
        const [ended, enqueued] = await Promise.all([
          log.append(own, [runEnd(own, run.runId)], fence, { finish: { status: "success" } }),
          another.start(request({ thread: own, strategy: "enqueue" })),
        ]);
        if (!ended.ok) return expect.unreachable();
        if (enqueued.kind === "started") expect(ended.next).toBeUndefined();
        else expect(enqueued).toMatchObject({ kind: "queued", run: { runId: ended.next } });
      }
    },
  },
  {
    name: "R24: names what waits next when a run ends: what preempts, then what arrived first, also when asked again",
    async run({ registry, instance, thread, request }) {
      const { store } = instance;
      let run = leased(await registry.start(request()));
      const patient = Array.from({ length: 4 }, () => request({ strategy: "enqueue" }));
      const urgent = Array.from({ length: 4 }, () => request({ strategy: "preempt" }));
      for (const each of [...patient, ...urgent]) await registry.start(each);
      for (const [index, next] of [...urgent, ...patient].entries()) {
        const { fence } = run;
        if (index % 2 === 0) {
          expect(await registry.finish(fence, { status: "success" })).toEqual({
            ok: true,
            next: next?.runId,
          });
        } else {
          const append: StoreAppend = {
            thread,
            token: fence.token,
            appendId: `names-of-next.00${index}`,
            entries: [encodeEnvelope(runEnd(thread, fence.runId))],
            finish: { runId: fence.runId, status: "success" },
          };
          for (const _ of ["once", "again"]) {
            expect(await store.commit([append])).toMatchObject([{ ok: true, next: next?.runId }]);
          }
        }
        const claimed = await registry.claimNext(thread, lease);
        expect(claimed?.run.runId).toBe(next?.runId);
        if (!claimed) return expect.unreachable();
        run = claimed;
      }
    },
  },
  {
    name: "R28: a question that a run leaves open and asks again stays open, as that run's",
    async run({ registry, log, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1", "i2", "i3"] });
      const second = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.finish(second.fence, { status: "interrupted", interrupts: ["i2", "i4"] });
      const ofSecond = ["i2", "i4"].map((interruptId) => ({ interruptId, runId: second.run.runId }));
      expect(await registry.openInterrupts(thread)).toEqual(ofSecond);
      const { run, fence } = leased(await registry.start(request({ start: resume({ i4: 1 }) })));
      await log.append(thread, [runEnd(thread, run.runId)], fence, {
        finish: { status: "interrupted", interrupts: ["i2", "i5"] },
      });
      const ofThird = ["i2", "i5"].map((interruptId) => ({ interruptId, runId: run.runId }));
      expect(await registry.openInterrupts(thread)).toEqual(ofThird);
      const { runs } = await registry.look({ thread, runId: "none", answers: ["i1", "i4"] });
      const answers = runs.interrupts.map(({ interruptId, answeredBy }) => `${interruptId} by ${answeredBy}`);
      expect(answers).toContain(`i1 by ${second.run.runId}`);
      expect(answers).toContain(`i4 by ${run.runId}`);
    },
  },
  {
    name: "R28: a run that sets questions aside leaves those that were answered, so that the same answer finds its run",
    async run({ registry, thread, request }) {
      const first = leased(await registry.start(request()));
      await registry.finish(first.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
      const second = leased(await registry.start(request({ start: resume({ i1: 1 }) })));
      await registry.finish(second.fence, { status: "interrupted", interrupts: ["i2"] });
      leased(await registry.start(request({ strategy: "preempt" })));
      const { runs } = await registry.look({ thread, runId: "none", answers: ["i1", "i2"] });
      expect(runs.interrupts).toMatchObject([{ interruptId: "i1", answeredBy: second.run.runId }]);
    },
  },
];
