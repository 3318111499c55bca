// @ts-check
// npm run mutants: changes each SQL statement of thread-log by one small mistake at a time, and says which of them no test notices.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readOptions } from "./read-options.mjs";
import { runCommand } from "./run-command.mjs";
import { ensureReady } from "./workspace.mjs";
import { commandScript, root } from "./workspace-packages.mjs";

/**
 * @typedef {object} Trial
 * @property {string} statement
 * @property {string} change
 * @property {"killed" | "survived" | "not run" | "invalid"} verdict
 * @property {string} [by] the test that failed
 * @property {string} original
 * @property {string} text
 *
 * @typedef {object} Recorded
 * @property {Record<string, string[]>} sent the texts that each test file sends
 *
 * @typedef {object} Accepted
 * @property {string} statement
 * @property {string} change
 * @property {string} why
 */

const LAB = "packages/thread-log/src/postgres/sql-mutants.test.ts";
const OTHER_TESTS = "packages/thread-log/mutants/vitest.config.mjs";
const ACCEPTED = join(root, "packages/thread-log/mutants/survivors.json");
const LEAST_SHARE = 0.9;
const SHARDS = 2;
const MODEL_CASES = 60;
const PROGRESS_MS = 30_000;
const PROGRESS_EACH = 10;

const options = readOptions(
  [
    "npm run mutants [-- --only NAME] [--sample N] [--again FILE] [--json]",
    "",
    "Makes one small mistake at a time in the SQL of packages/thread-log and runs conformance, model and statement tests against",
    "it. Fails if fewer than 90 % of the mistakes are noticed, or one that is not noticed has no reason in",
    "packages/thread-log/mutants/survivors.json.",
    "",
    "  --only NAME  only statements whose name contains this",
    "  --sample N   about N of them, evenly chosen",
    "  --again FILE only what was not noticed in FILE, which --json printed",
    "  --json       print every trial as JSON",
  ].join("\n"),
  {
    only: { type: "string" },
    sample: { type: "string" },
    again: { type: "string" },
    json: { type: "boolean" },
  },
);

await ensureReady({ forTests: true });
const folder = mkdtempSync(join(tmpdir(), "throughline-mutants-"));
try {
  process.exitCode = report(await runAll(folder)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * The cases of conformance first, which take milliseconds; then, of what they leave, the tests of statements that send it, a
 * process for each mutant; the model last, because it takes longest.
 *
 * @param {string} folder
 * @returns {Promise<readonly Trial[]>}
 */
async function runAll(folder) {
  const recorded = join(folder, "recorded.json");
  say("recording what the tests of statements send");
  await vitest(["--config", OTHER_TESTS], { THROUGHLINE_SQL_RECORD: recorded });
  const { sent } = /** @type {Recorded} */ (JSON.parse(readFileSync(recorded, "utf8")));
  say("trying the cases of conformance");
  const byCases = await inLab(folder, {
    only: options.only,
    sample: Number(options.sample ?? 0),
    again: options.again && resolve(options.again),
    recorded,
  });
  const left = byCases.filter(isLeft);
  say(`trying the tests of statements with ${left.length} of ${byCases.length} mutants`);
  const byOthers = await eachOf(left, (trial, shard) => tryOtherTests(folder, trial, sent, shard));
  const last = byOthers.filter(isLeft);
  say(`trying the model with ${last.length}`);
  const leftFile = join(folder, "left.json");
  writeFileSync(leftFile, JSON.stringify(last));
  const byModel = last.length === 0 ? [] : await inLab(folder, { left: leftFile, modelCases: MODEL_CASES });
  return [
    ...byCases.filter((trial) => !isLeft(trial)),
    ...byOthers.filter((trial) => !isLeft(trial)),
    ...byModel,
  ];
}

/**
 * It takes long enough to be watched; standard output is for the result.
 *
 * @param {string} what
 */
function say(what) {
  console.error(`${new Date().toTimeString().slice(0, 8)} ${what} …`);
}

/** @param {Trial} trial */
function isLeft({ verdict }) {
  return verdict === "survived" || verdict === "not run";
}

/**
 * @param {string} folder
 * @param {object} wanted
 * @returns {Promise<Trial[]>}
 */
async function inLab(folder, wanted) {
  const outs = Array.from({ length: SHARDS }, (_, shard) => join(folder, `trials-${shard}.json`));
  for (const out of outs) writeFileSync(out, "[]");
  const progress = setInterval(() => say(`  ${trialsIn(outs).length} tried`), PROGRESS_MS);
  try {
    await Promise.all(
      outs.map((out, shard) =>
        vitest([LAB], { THROUGHLINE_MUTANTS: JSON.stringify({ ...wanted, shard, shards: SHARDS, out }) }),
      ),
    );
  } finally {
    clearInterval(progress);
  }
  return trialsIn(outs);
}

/**
 * @param {readonly string[]} outs
 * @returns {Trial[]}
 */
function trialsIn(outs) {
  return outs.flatMap((out) => /** @type {Trial[]} */ (JSON.parse(readFileSync(out, "utf8"))));
}

/**
 * As many at once as there are shards.
 *
 * @template T
 * @template R
 * @param {readonly T[]} items
 * @param {(item: T, shard: number) => Promise<R>} work
 * @returns {Promise<R[]>}
 */
async function eachOf(items, work) {
  const waiting = [...items];
  /** @type {R[]} */
  const done = [];
  await Promise.all(
    Array.from({ length: SHARDS }, async (_, shard) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        done.push(await work(item, shard));
        if (done.length % PROGRESS_EACH === 0) say(`  ${done.length} tried`);
      }
    }),
  );
  return done;
}

/**
 * Tests that are not data can't be run in the process of the others. A function is made by a migration, which all of them run.
 *
 * @param {string} folder
 * @param {Trial} trial
 * @param {Recorded["sent"]} sentBy
 * @param {number} shard
 * @returns {Promise<Trial>}
 */
async function tryOtherTests(folder, trial, sentBy, shard) {
  const files = Object.keys(sentBy).filter((file) => sentBy[file]?.includes(trial.original));
  if (files.length === 0) return trial;
  const sent = join(folder, `sent-${shard}.json`);
  const mutant = join(folder, `mutant-${shard}.json`);
  writeFileSync(mutant, JSON.stringify({ original: trial.original, text: trial.text, sent }));
  rmSync(sent, { force: true });
  let failures = 0;
  // Twice: on a busy machine a test may fail by itself.
  for (const _ of ["once", "again"]) {
    try {
      await vitest(["--config", OTHER_TESTS, "--bail", "1", ...files], { THROUGHLINE_SQL_MUTANT: mutant });
      break;
    } catch {
      failures += 1;
    }
  }
  if (!wasSent(sent)) return trial;
  if (failures === 2) return { ...trial, verdict: "killed", by: "the tests of statements" };
  return { ...trial, verdict: "survived" };
}

/** @param {string} file */
function wasSent(file) {
  try {
    return Number(readFileSync(file, "utf8")) > 0;
  } catch {
    return false;
  }
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 */
function vitest(args, env) {
  return runCommand(process.execPath, [commandScript("vitest"), "run", ...args], {
    cwd: root,
    env: { ...process.env, ...env },
  });
}

/**
 * @param {readonly Trial[]} trials
 * @returns {boolean} whether enough was noticed, and the rest is accepted
 */
function report(trials) {
  const accepted = /** @type {Accepted[]} */ (JSON.parse(readFileSync(ACCEPTED, "utf8")));
  const key = (/** @type {{ statement: string; change: string }} */ { statement, change }) =>
    `${statement}\n${change}`;
  const reasons = new Map(accepted.map((each) => [key(each), each.why]));
  const valid = trials.filter(({ verdict }) => verdict !== "invalid");
  const killed = valid.filter(({ verdict }) => verdict === "killed");
  const left = valid.filter(({ verdict }) => verdict !== "killed");
  const unknown = left.filter((trial) => !reasons.has(key(trial)));
  const share = valid.length === 0 ? 1 : killed.length / valid.length;
  if (options.json) {
    console.log(JSON.stringify(trials.map(({ original: _, text: __, ...trial }) => trial)));
  } else {
    printTable(trials);
    for (const trial of left) {
      console.log(
        `${trial.verdict}: ${trial.statement}\n  ${trial.change}\n  ${reasons.get(key(trial)) ?? "UNKNOWN"}`,
      );
    }
    for (const trial of killed.filter((each) => reasons.has(key(each)))) {
      console.log(`noticed by now, delete it from survivors.json: ${trial.statement}\n  ${trial.change}`);
    }
    console.log(
      `${killed.length} of ${valid.length} noticed (${(share * 100).toFixed(1)} %), ${unknown.length} unknown`,
    );
  }
  return share >= LEAST_SHARE && unknown.length === 0;
}

/** @param {readonly Trial[]} trials */
function printTable(trials) {
  const statements = [...new Set(trials.map(({ statement }) => statement))].sort();
  const width = Math.max(9, ...statements.map((name) => name.length));
  const verdicts = /** @type {const} */ (["killed", "survived", "not run", "invalid"]);
  console.log(["statement".padEnd(width), "mutants", ...verdicts].join("  "));
  for (const statement of statements) {
    const own = trials.filter((trial) => trial.statement === statement);
    const counts = verdicts.map((verdict) =>
      String(own.filter((trial) => trial.verdict === verdict).length).padStart(verdict.length),
    );
    console.log([statement.padEnd(width), String(own.length).padStart(7), ...counts].join("  "));
  }
}
