import fc from "fast-check";
import type { MemoryDatabase } from "../../memory/database.js";
import { threadKey } from "../../thread-ref.js";
import { checkInvariants, checkTokens, hold } from "./check-invariants.js";
import { explainRound } from "./explain-round.js";
import type { ModelCommand } from "./model-command.js";
import { createModelWorld, type ModelWorld } from "./model-world.js";
import type { ModelInstance, Operation, Outcome, Part } from "./operation.js";
import { preparations } from "./prepare-world.js";
import { claimExpiredAt, registryCommands, timePasses } from "./registry-commands.js";
import { startCommands } from "./start-commands.js";
import type { Loss } from "./statement-gate.js";
import { storeCommands } from "./store-commands.js";

export interface ModelTask {
  readonly instance: number;
  readonly loss: Loss | undefined;
  perform(on: ModelInstance): Promise<unknown>;
}

/** Several instances on one database. */
export interface ModelSubject {
  /** Deletes what an earlier case left. */
  clear(): Promise<void>;
  /** Performs all of them at once, in an interleaving that the scheduler decides. */
  perform(scheduler: fc.Scheduler, tasks: readonly ModelTask[]): Promise<readonly Outcome[]>;
  /** All there is, as of one moment. */
  read(): Promise<MemoryDatabase>;
}

const command = fc.oneof(...startCommands, ...registryCommands, ...storeCommands);
/** Commands that are about the same thread, or the same lease, meet more often than chance would have it. */
const meeting = fc
  .tuple(fc.option(fc.nat(63)), fc.array(command, { minLength: 2, maxLength: 3, size: "max" }))
  .map(([at, commands]) => commands.map((each) => (at === null ? each : each.at(at))));
const round = fc.oneof({ weight: 2, arbitrary: fc.tuple(command) }, { weight: 3, arbitrary: meeting });
const beginnings = fc.array(fc.nat(127), { minLength: 4, maxLength: 4 });
const rounds = fc.array<readonly ModelCommand[]>(round, { minLength: 4, maxLength: 14, size: "max" });

/**
 * Random commands of several instances over log and registry. After each round everything in the database must be what the
 * reference (the memory store) comes to when it performs the same commands in some order, with the same answers.
 */
export function storeModel(subject: ModelSubject) {
  return fc.asyncProperty(fc.scheduler(), beginnings, rounds, async (scheduler, beginning, sequence) => {
    await subject.clear();
    const world = createModelWorld(await subject.read());
    await prepare(subject, scheduler, world, beginning);
    for (const commands of sequence) {
      for (const together of apart(world, commands)) await runRound(subject, scheduler, world, together);
    }
  });
}

/** Not explained step by step: what the commands find is read when all of it is there. */
async function prepare(
  subject: ModelSubject,
  scheduler: fc.Scheduler,
  world: ModelWorld,
  numbers: readonly number[],
): Promise<void> {
  const steps = world.threads.map((thread, index) => preparations(thread, numbers[index] ?? 0));
  for (let step = 0; steps.some((each) => each.length > step); step++) {
    const operations = steps.flatMap((each) => each[step]?.(world) ?? []);
    const tasks = operations.map(({ perform }, instance) => ({ instance, loss: undefined, perform }));
    const outcomes = await subject.perform(scheduler, tasks);
    world.state = await subject.read();
    operations.forEach((operation, index) => {
      const outcome = outcomes[index];
      if (outcome) operation.learn?.(outcome);
    });
  }
  // Leases, stops and ends of long ago in some cases, and what was released is recovered in others.
  const [last = 0] = numbers;
  if (last % 3 === 2) return;
  const operation = last % 3 === 0 ? timePasses : claimExpiredAt(world, 2);
  const outcomes = await subject.perform(scheduler, [
    { instance: 0, loss: undefined, perform: operation.perform },
  ]);
  world.state = await subject.read();
  if (outcomes[0]) operation.learn?.(outcomes[0]);
}

type Resolved = readonly [Operation, ModelCommand];

/** What can't be explained together is performed one after the other. */
function apart(world: ModelWorld, commands: readonly ModelCommand[]): readonly (readonly ModelCommand[])[] {
  const operations = resolved(world, commands).map(([operation]) => operation);
  const marks = operations.flatMap((operation) => operation.marks ?? []);
  const isApart = operations.some(({ isAlone }) => isAlone) || new Set(marks).size < marks.length;
  return isApart ? commands.map((each) => [each]) : [commands];
}

function resolved(world: ModelWorld, commands: readonly ModelCommand[]): readonly Resolved[] {
  return commands.flatMap((each) => {
    const operation = each.resolve(world);
    return operation ? [[operation, each] as const] : [];
  });
}

async function runRound(
  subject: ModelSubject,
  scheduler: fc.Scheduler,
  world: ModelWorld,
  commands: readonly ModelCommand[],
): Promise<void> {
  const operations = resolved(world, commands);
  if (operations.length === 0) return;
  const outcomes = await subject.perform(
    scheduler,
    operations.map(([{ perform, isReliable }, { instance, loss }]) => ({
      instance,
      loss: isReliable ? undefined : loss,
      perform,
    })),
  );
  const mayLockOut = operations.filter(([{ locksSeveral }]) => locksSeveral).length > 1;
  for (const outcome of outcomes) {
    hold(
      mayLockOut || outcome.kind !== "lost" || !outcome.isDeadlock,
      `deadlock of ${operations.map(([{ text }]) => text)}`,
    );
  }
  const before = world.state;
  const after = await subject.read();
  const parts = operations.flatMap(([operation], index) =>
    partsOf(operation, outcomes[index] ?? { kind: "lost", isDeadlock: false }, operations.length > 1),
  );
  const unexplained = await explainRound({ before, parts, after });
  if (unexplained !== undefined) {
    const asked = operations.map(([{ text }], index) => `${text} → ${JSON.stringify(outcomes[index]?.kind)}`);
    throw new Error(`No order explains\n${asked.join("\n")}\nThe nearest:\n${unexplained}`);
  }
  world.state = after;
  operations.forEach(([operation], index) => {
    const outcome = outcomes[index];
    if (outcome) operation.learn?.(outcome);
  });
  checkTokens(before, after);
  checkHints(after, operations, outcomes);
  checkInvariants(world);
}

function partsOf(operation: Operation, outcome: Outcome, isConcurrent: boolean): readonly Part[] {
  const isSplit = isConcurrent || outcome.kind === "lost";
  if (isSplit && operation.parts) return operation.parts(outcome);
  return [{ text: operation.text, outcome, perform: operation.perform }];
}

/** R24: ending a run returns the one that waits, unless another runs by then. */
function checkHints(
  state: MemoryDatabase,
  operations: readonly Resolved[],
  outcomes: readonly Outcome[],
): void {
  if (outcomes.some(({ kind }) => kind === "lost")) return;
  operations.forEach(([operation], index) => {
    const outcome = outcomes[index];
    if (!operation.endsRunsOf || outcome?.kind !== "answered") return;
    for (const thread of operation.endsRunsOf(outcome.answer)) {
      const runs = [...state.runs.values()].filter((run) => threadKey(run.thread) === threadKey(thread));
      const isIdle = runs.every(({ status }) => status !== "running");
      const waits = runs.some(({ status }) => status === "queued");
      hold(!(isIdle && waits), `${operation.text}: was not told of the run that waits`);
    }
  });
}
