import type { TrimResult } from "../../log/thread-log.js";
import { type MemoryTrim, TRIM_STEPS } from "../../memory/database.js";
import { type ThreadRef, threadKey } from "../../thread-ref.js";
import type { Resolve } from "./model-command.js";
import { named, pick, rowOf, threadAt } from "./model-world.js";
import type { Outcome, Part } from "./operation.js";

export const trim: Resolve = (world, [at, keep, terminals]) => {
  const thread = threadAt(world, at);
  const row = rowOf(world, thread);
  if (!row) return undefined;
  const through = row.head - (keep % 4);
  const maxTerminals = pick([1_000, 1_000, 1, 0], terminals) ?? 0;
  const epoch = keep % 16 === 5 ? "other" : row.epoch;
  const text = `trim ${named(thread)} through ${through}, keep ${maxTerminals}`;
  return {
    text,
    marks: [`trim of ${named(thread)}`],
    perform: ({ store }) => store.trim(thread, epoch, through, maxTerminals),
    parts: (outcome) => trimParts({ text, thread, epoch, through, maxTerminals }, outcome),
    learn(outcome) {
      if (outcome.kind === "lost") world.halfTrimmed.add(threadKey(thread));
      else if (epoch === row.epoch) world.halfTrimmed.delete(threadKey(thread));
    },
  };
};

interface AskedTrim extends MemoryTrim {
  readonly text: string;
  readonly thread: ThreadRef;
  readonly epoch: string;
}

/** Each step has a moment of its own, and so has the look at the floor, which comes after the first. */
function trimParts({ text, thread, epoch, ...asked }: AskedTrim, outcome: Outcome): readonly Part[] {
  const outcomeOf = (answer: (result: TrimResult) => unknown): Outcome =>
    outcome.kind === "answered" ? { ...outcome, answer: answer(outcome.answer as TrimResult) } : outcome;
  const steps = TRIM_STEPS.map(
    (step): Part => ({
      text: `${text}: ${step.name}`,
      outcome: outcomeOf(() => undefined),
      async perform({ database }) {
        const row = database.threads.get(threadKey(thread));
        if (row?.epoch === epoch) step(row, asked);
      },
    }),
  );
  const look: Part = {
    text: `${text}: look at the floor`,
    outcome: outcomeOf(({ floor }) => floor),
    perform: async ({ database }) => database.threads.get(threadKey(thread))?.floor ?? 1,
  };
  const first = steps
    .toSpliced(1, 0, look)
    .reduceRight<Part | undefined>((next, part) => ({ ...part, next }), undefined);
  return first ? [first] : [];
}
