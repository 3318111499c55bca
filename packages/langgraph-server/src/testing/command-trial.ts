import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject, LogEntry } from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import fc from "fast-check";
import { expect, vi } from "vitest";
import { z } from "zod";
import type { StartOutcome, StartRunRequest } from "../runs/start-request.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { type ServiceScene, startRequest } from "./service-scene.js";

const ACTS = [
  "stop by its name",
  "stop by ours",
  "stop the thread",
  "sync",
  "enqueued sync",
  "fire",
] as const;

/** What happens to a run that would go on for a minute: at a moment of its first milliseconds, from here or from afar. */
export interface CommandTrial {
  readonly acts: readonly { readonly act: (typeof ACTS)[number]; readonly afterMs: number }[];
  readonly isNamed: boolean;
  readonly fromAfar: boolean;
}

export const commandTrials: fc.Arbitrary<CommandTrial> = fc.record({
  acts: fc.array(fc.record({ act: fc.constantFrom(...ACTS), afterMs: fc.constantFrom(0, 1, 5, 20) }), {
    minLength: 1,
    maxLength: 3,
  }),
  isNamed: fc.boolean(),
  fromAfar: fc.boolean(),
});

const NOTHING = { kind: "input", messages: [] } as const;
const CYCLE = { name: "cycle", args: { durationMs: 60_000 } };

/**
 * Does it and says what must be so whatever came first: no stop is lost, no two runs are open at once, every run has one
 * end, and the thread is free afterwards. A stop that was lost shows as a trial that does not end.
 */
export async function tryCommands(
  { here, there }: { readonly here: ServiceScene; readonly there: ServiceScene },
  { acts, isNamed, fromAfar }: CommandTrial,
): Promise<void> {
  const thread = here.thread("sentinel");
  const actor = fromAfar ? there : here;
  const started: RunRecord[] = [];
  const ask = (scene: ServiceScene, more: Partial<StartRunRequest>) =>
    scene.service.runs.arriving(async (arrival) => {
      const outcome = await scene.service.runs.start(startRequest(thread, NOTHING, { ...more, arrival }));
      if ("run" in outcome && !started.some(({ runId }) => runId === outcome.run.runId)) {
        started.push(outcome.run);
      }
      return outcome;
    });

  await ended(here, thread, runOf(await ask(here, { command: { name: "hire" } })).runId);
  const cycling = ask(here, { command: CYCLE, ...(isNamed && { clientRunId: "cycle" }) });
  const stopCycle = async () => {
    const outcome = await cycling;
    if ("run" in outcome) await actor.service.runs.stop(thread, outcome.run.runId);
  };

  async function sync(id: string): Promise<void> {
    const settings: JsonObject = { watch: [id] };
    const input = { ...NOTHING, state: { settings } };
    for (;;) {
      const outcome = await ask(actor, { input, command: { name: "sync", clientMutationId: id } });
      if (outcome.kind !== "busy") return void (await ended(actor, thread, runOf(outcome).runId));
      await stopCycle();
      await ended(actor, thread, outcome.runId);
    }
  }

  async function enqueuedSync(id: string): Promise<void> {
    const command = { name: "sync", clientMutationId: id };
    const input = { ...NOTHING, state: { settings: { watch: [id] } } };
    const run = runOf(await ask(actor, { input, command, strategy: "enqueue" }));
    await stopCycle();
    await ended(actor, thread, run.runId);
  }

  const doing = acts.map(async ({ act, afterMs }, index) => {
    // Not to wait for something: the moment is what is tried.
    if (afterMs > 0) await wait(afterMs);
    switch (act) {
      case "stop by its name":
        if (!isNamed) return stopCycle();
        return void (await actor.service.runs.stop(thread, "cycle"));
      case "stop by ours":
        return stopCycle();
      case "stop the thread":
        // Which requests are on their way to another instance, this one can't know.
        if (fromAfar) await cycling;
        return void (await actor.service.runs.stop(thread));
      case "sync":
        return sync(`sync ${index}`);
      case "enqueued sync":
        return enqueuedSync(`enqueued ${index}`);
      case "fire":
        await ended(
          actor,
          thread,
          runOf(await ask(actor, { command: { name: "fire" }, strategy: "preempt" })).runId,
        );
    }
  });
  await Promise.all(doing);
  const wasStopped = acts.some(({ act }) => act.startsWith("stop"));
  // A sync may have come first, and the cycle after it.
  if (!wasStopped) await stopCycle();
  await cycling;
  for (const { runId } of started) await ended(there, thread, runId);

  const cycle = await cycling;
  if ("run" in cycle && wasStopped) {
    const status = await ended(here, thread, cycle.run.runId);
    const wasFired = acts.some(({ act }) => act === "fire");
    // Let in after a fire, the cycle has nothing to do and may be over before its stop comes.
    expect(wasFired ? ["cancelled", "success"] : ["cancelled"]).toContain(status);
  }
  await expectOneAtATime(here, thread);
  // An end is told before it is noted.
  await vi.waitFor(async () => expect(await here.service.registry.open(thread.ref)).toEqual([]), 20_000);
  const last = await here.service.runs.start(startRequest(thread, "Are you there?"));
  expect(last.kind).toBe("started");
  expect(await ended(there, thread, runOf(last).runId)).toBe("success");
  expect([...here.failures, ...there.failures]).toEqual([]);
}

function runOf(outcome: StartOutcome): RunRecord {
  if ("run" in outcome) return outcome.run;
  throw new Error(`Expected a run, not ${JSON.stringify(outcome)}.`);
}

/** Watches a run to its one end, and says which it is. */
async function ended(scene: ServiceScene, thread: ThreadAddress, runId: string): Promise<string> {
  const watching = scene.watch(thread, { kind: "run", runId });
  expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
  const ends = watching.frames.filter(
    ({ data }) => data.type === "RUN_FINISHED" || data.type === "RUN_ERROR",
  );
  expect(ends).toHaveLength(1);
  expect(watching.types().at(-1)).toBe(ends[0]?.data.type);
  const { throughline } = z
    .object({ throughline: z.object({ status: z.string() }) })
    .parse(ends[0]?.data.metadata);
  return throughline.status;
}

/** R24, as the log tells it. */
async function expectOneAtATime({ service }: ServiceScene, thread: ThreadAddress): Promise<void> {
  const page = await service.log.read(thread.ref, undefined, 10_000);
  const entries: readonly LogEntry[] = page.kind === "entries" ? page.entries : [];
  expect(entries.length).toBeGreaterThan(0);
  let open: string | undefined;
  for (const { envelope } of entries) {
    if (envelope.type === "run_start") {
      expect([undefined, envelope.run_id]).toContain(open);
      open = envelope.run_id;
    } else expect(envelope.run_id).toBe(open);
    if (envelope.type === "run_end") open = undefined;
  }
  expect(open).toBeUndefined();
}
