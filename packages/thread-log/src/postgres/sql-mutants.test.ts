import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fenceCases } from "../conformance/fence-cases.js";
import { neighbourCases } from "../conformance/neighbour-cases.js";
import type { Recorded } from "../testing/mutants/apply-mutant.js";
import { type MutantLab, openMutantLab, type Trial } from "../testing/mutants/mutant-lab.js";

/** What `npm run mutants` asks for. */
type Wanted = Shard & (FirstTrials | LastTrials);

interface Shard {
  readonly shard: number;
  readonly shards: number;
  /** The file for what was found. */
  readonly out: string;
}

/** Every mutant, by the cases of conformance. */
interface FirstTrials {
  readonly only?: string;
  /** 0: all. */
  readonly sample: number;
  /** A file with earlier trials: what was noticed in them is left out. */
  readonly again?: string;
  /** A file with the statements that other tests send. */
  readonly recorded: string;
}

/** What the others have left, by the model. */
interface LastTrials {
  /** A file with trials. */
  readonly left: string;
  readonly modelCases: number;
}

/** Of each kind one: a fence, a token, a batch, a lease, and each part of a thread's key. */
const SAMPLE: readonly (readonly [statement: RegExp, change: RegExp])[] = [
  [/log\/log-store: append$/, /^drop: t\.fence between 1 and a\.token/],
  [/log\/log-store: append$/, /^drop: t\.subject = a\.subject/],
  [/log\/log-store: append_and_finish$/, /^drop: r\.fence = a\.token/],
  [/log\/log-store: append_and_finish$/, /^drop: m\.ord = e\.ord/],
  [/registry\/finish: finish$/, /^drop: i\.thread_id = e\.thread_id/],
  [/function start_run_1/, /^drop: i\.account = in_account/],
  [/registry\/claims: with candidates/, /^drop: t\.log_id = c\.log_id/],
  [/registry\/claims: with locked/, /^drop: t\.subject = r\.subject/],
  [/registry\/claims: with locked/, /^greatest without: nextval/],
  [/log\/snapshots: with here/, /^drop: t\.log_id = saved\.log_id/],
  [/log\/snapshots: delete from/, /^drop: log_id = \$1/],
  [/^delete: with living/, /^drop: \(\$3::text is null or thread_id = \$3\)/],
  [/^delete: delete from interrupts/, /^drop: account = \$1/],
  [/registry\/run-registry: with held/, /^drop: r\.fence = f\.token/],
  [/log\/read: load/, /^drop: t\.subject = \$2/],
];

/** Those that notice them. */
const NOTICING = new Set([...fenceCases, ...neighbourCases].map(({ name }) => name));

const { THROUGHLINE_MUTANTS: asked } = process.env;

if (asked === undefined) {
  it("conformance notices mistakes in statements: a sample", async () => {
    const lab = await openMutantLab({ wants: (name) => NOTICING.has(name) });
    try {
      const trials: Trial[] = [];
      for (const [statement, change] of SAMPLE) {
        const found = lab.statements.find(({ name }) => statement.test(name));
        const mutant = found?.mutants.find((each) => change.test(each.change));
        if (!found || !mutant) return expect.unreachable(`there is no ${change} of ${statement} any more`);
        trials.push(await lab.try(found, mutant));
      }
      const survivors = trials.filter(({ verdict }) => verdict !== "killed");
      expect(
        survivors.map(({ statement, change, verdict }) => `${statement}, ${change}: ${verdict}`),
      ).toEqual([]);
    } finally {
      await lab.close();
    }
  }, 300_000);
} else {
  it(
    "every mistake in a statement is tried",
    async () => {
      // Written by the script.
      const wanted = JSON.parse(asked) as Wanted;
      const trials: Trial[] = [];
      const { lab, work } = "left" in wanted ? await lastTrials(wanted) : await firstTrials(wanted);
      for (const tryOne of work.filter((_, index) => index % wanted.shards === wanted.shard)) {
        trials.push(await tryOne());
        // The script reads it meanwhile.
        writeFileSync(`${wanted.out}.new`, JSON.stringify(trials));
        renameSync(`${wanted.out}.new`, wanted.out);
      }
      await lab.close();
    },
    24 * 3_600_000,
  );
}

interface Work {
  readonly lab: MutantLab;
  readonly work: readonly (() => Promise<Trial>)[];
}

async function firstTrials({ only, sample, again, recorded }: FirstTrials): Promise<Work> {
  const lab = await openMutantLab({ recorded: read<Recorded>(recorded).statements });
  const earlier = again === undefined ? [] : read<readonly Trial[]>(again);
  const noticed = new Set(earlier.filter(({ verdict }) => verdict === "killed").map(keyOf));
  const all = lab.statements
    .filter(({ name }) => only === undefined || name.includes(only))
    .flatMap((statement) => statement.mutants.map((mutant) => ({ statement, mutant })))
    .filter(({ statement, mutant }) => !noticed.has(keyOf({ statement: statement.name, ...mutant })));
  const step = sample > 0 ? Math.max(1, Math.floor(all.length / sample)) : 1;
  const chosen = all.filter((_, index) => index % step === 0);
  return {
    lab,
    work: chosen.map(
      ({ statement, mutant }) =>
        () =>
          lab.try(statement, mutant),
    ),
  };
}

async function lastTrials({ left, modelCases }: LastTrials): Promise<Work> {
  const lab = await openMutantLab({ wants: () => false, modelCases });
  const work = read<readonly Trial[]>(left).map((trial) => async () => {
    const { statement: name, original, change, text } = trial;
    const found = await lab.try({ name, text: original }, { change, text });
    // The tests before may have sent it.
    return found.verdict === "killed" ? found : trial;
  });
  return { lab, work };
}

function keyOf({ statement, change }: Pick<Trial, "statement" | "change">): string {
  return `${statement}\n${change}`;
}

/** Files that the script and this package's tests write for each other. */
function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
