import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openMutantLab, type Trial } from "../testing/mutants/mutant-lab.js";
import type { SeenStatement } from "../testing/mutants/statement-hook.js";

/** What `npm run mutants` asks for. */
interface Wanted {
  readonly only?: string;
  /** 0: all. */
  readonly sample: number;
  readonly shard: number;
  readonly shards: number;
  /** A file with the statements that other tests send. */
  readonly recorded: string;
  readonly out: string;
}

/** Of each kind one: a fence, a token, a revision, a lease, an epoch, a thread that is forgotten. */
const SAMPLE: readonly (readonly [statement: RegExp, change: RegExp])[] = [
  [/: append$/, /^drop: t\.fence between 1 and a\.token/],
  [/function start_run/, /^drop: here\.revision <> in_revision/],
  [/: finish$/, /^drop: i\.answered_by is null/],
  [/stop-run: update runs set status/, /^drop: run_id = \$1/],
  [/lease-runs: with locked/, /^drop: r\.lease_until < now\(\)/],
  [/snapshot-rows: with here/, /^drop: epoch = \$4/],
  [/delete-threads: with living/, /^drop: \(\$3::text is null or thread_id = \$3\)/],
  [/postgres-run-registry: with held/, /^drop: r\.fence = f\.token/],
  [/: look$/, /^drop: expires_at > clock_timestamp\(\)/],
];

const { THROUGHLINE_MUTANTS: asked } = process.env;

if (asked === undefined) {
  it("the model notices mistakes in statements: a sample", async () => {
    const lab = await openMutantLab({ withCases: false, modelCases: 40 });
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
      const { only, sample, shard, shards, recorded, out } = JSON.parse(asked) as Wanted;
      const lab = await openMutantLab({
        withCases: true,
        recorded: JSON.parse(readFileSync(recorded, "utf8")) as SeenStatement[],
      });
      const all = lab.statements
        .filter(({ name }) => only === undefined || name.includes(only))
        .flatMap((statement) => statement.mutants.map((mutant) => ({ statement, mutant })));
      const step = sample > 0 ? Math.max(1, Math.floor(all.length / sample)) : 1;
      const trials: Trial[] = [];
      for (const { statement, mutant } of all.filter(
        (_, index) => index % step === 0 && (index / step) % shards === shard,
      )) {
        trials.push(await lab.try(statement, mutant));
        writeFileSync(out, JSON.stringify(trials));
      }
      await lab.close();
    },
    24 * 3_600_000,
  );
}
