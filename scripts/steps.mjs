// @ts-check
import { CommandFailed } from "./run-command.mjs";
import { runInOrder } from "./run-in-order.mjs";

/**
 * @typedef {object} Tests what a test runner counted
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {number} budgetMs what it should take at most on a small machine; three times that and it is stopped
 * @property {readonly string[]} [needs] names of the steps that must have passed before
 * @property {(limits: { timeoutMs: number }) => Promise<{ tests?: Tests; details?: readonly string[] }>} run
 *
 * @typedef {object} Outcome
 * @property {string} name
 * @property {boolean} ok
 * @property {number} ms
 * @property {number} budgetMs
 * @property {Tests | undefined} tests
 * @property {readonly string[]} details lines about its parts, for the table at the end
 */

const colours =
  Boolean(process.stdout.isTTY) && !process.env.CI && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const paint = (/** @type {number} */ code, /** @type {string} */ text) =>
  colours ? `\u001b[${code}m${text}\u001b[0m` : text;

export const bold = (/** @type {string} */ text) => paint(1, text);
export const dim = (/** @type {string} */ text) => paint(2, text);
export const tick = paint(32, "✓");
export const cross = paint(31, "✗");

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** @param {{ changed: boolean }} result */
export function installedSentence({ changed }) {
  return { changed, text: changed ? "packages installed" : "packages installed (nothing changed)" };
}

/** @param {{ installed: readonly string[] }} result */
export function servicesSentence({ installed }) {
  return installed.length > 0
    ? { changed: true, text: `installed ${installed.join(", ")}` }
    : { changed: false, text: "services installed (nothing changed)" };
}

/** @param {{ built: readonly string[] }} result */
export function builtSentence({ built }) {
  const count = `${built.length} package${built.length === 1 ? "" : "s"}`;
  return built.length > 0
    ? { changed: true, text: `built ${count}` }
    : { changed: false, text: "built (nothing changed)" };
}

/** @param {{ built: readonly string[] }} result */
export function consoleSentence({ built }) {
  return built.length > 0
    ? { changed: true, text: "built the console" }
    : { changed: false, text: "console built (nothing changed)" };
}

/** What is done by then needs no announcement. */
const SOON_MS = 500;

/**
 * Runs one thing a person waits for, says what it did and how long it took. A failure ends the process: nothing that
 * follows could work.
 *
 * @template Result
 * @param {() => Promise<Result>} run
 * @param {(result: Result) => { changed: boolean; text: string }} describe
 * @param {{ write?: (line: string) => void; onlyChanges?: boolean; doing?: string }} [options] `doing`: said if it takes a while
 */
export async function runStep(run, describe, { write = console.log, onlyChanges = false, doing } = {}) {
  const started = performance.now();
  const announcing = doing === undefined ? undefined : setTimeout(() => write(dim(`  ${doing} …`)), SOON_MS);
  try {
    const { changed, text } = describe(await run());
    const took = changed ? dim(` (${seconds(performance.now() - started)})`) : "";
    if (changed || !onlyChanges) write(`${tick} ${text}${took}`);
  } catch (error) {
    // What fails here is the machine or the person's own choice, so the sentence helps and the stack does not.
    const reason =
      error instanceof Error && !(error instanceof CommandFailed) ? error.message : explain(error);
    console.error(`${cross} ${reason}`);
    process.exit(1);
  } finally {
    clearTimeout(announcing);
  }
}

/**
 * Runs steps side by side and reports each as it ends; a failing one shows everything it said, and the others go on unless
 * they need it. A step that could not run has no outcome.
 *
 * @param {readonly Step[]} steps
 * @param {{ limit: number; write: (line: string) => void }} options
 * @returns {Promise<Outcome[]>}
 */
export async function runSteps(steps, { limit, write }) {
  /** @type {Set<string>} */
  const missing = new Set();
  const outcomes = await runInOrder({
    items: steps,
    limit,
    nameOf: ({ name }) => name,
    dependsOn: ({ needs = [] }) => needs,
    run: async (step) => {
      const absent = step.needs?.find((name) => missing.has(name));
      if (absent !== undefined) {
        missing.add(step.name);
        write(`${cross} ${step.name} ${dim(`(not run without: ${absent})`)}`);
        return undefined;
      }
      const started = performance.now();
      const outcome = await attempt(step);
      const ms = performance.now() - started;
      write(`${outcome.ok ? tick : cross} ${step.name} ${dim(`(${seconds(ms)})`)}`);
      if (!outcome.ok) {
        missing.add(step.name);
        write(`\n${outcome.output.trimEnd()}\n`);
      }
      const { tests, details = [], ok } = outcome;
      return { name: step.name, budgetMs: step.budgetMs, ms, ok, tests, details };
    },
  });
  return outcomes.flatMap((outcome) => outcome ?? []);
}

/**
 * These steps and everything they need, in the order of `all`.
 *
 * @param {readonly Step[]} all
 * @param {readonly Step[]} chosen
 * @returns {Step[]}
 */
export function withNeeds(all, chosen) {
  const wanted = new Set(chosen.map(({ name }) => name));
  // A set that grows while it is walked is walked to its end.
  for (const name of wanted) {
    for (const needed of all.find((step) => step.name === name)?.needs ?? []) wanted.add(needed);
  }
  return all.filter(({ name }) => wanted.has(name));
}

/**
 * @param {Step} step
 * @returns {Promise<{ ok: boolean; output: string; tests?: Tests; details?: readonly string[] }>}
 */
async function attempt({ run, budgetMs }) {
  try {
    return { ok: true, output: "", ...(await run({ timeoutMs: budgetMs * 3 })) };
  } catch (error) {
    const tests = error instanceof TestsFailed ? { tests: error.tests } : {};
    return { ok: false, output: explain(error), ...tests };
  }
}

/** Failing tests are counted one by one, other failing steps as one. */
export class TestsFailed extends CommandFailed {
  /**
   * @param {CommandFailed} failure
   * @param {Tests} tests
   */
  constructor(failure, tests) {
    super(failure.message, failure.output);
    this.tests = tests;
  }
}

/** @param {unknown} error */
function explain(error) {
  if (error instanceof CommandFailed) return `${error.output.trimEnd()}\n${error.message}`.trimStart();
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * @param {readonly Outcome[]} outcomes
 * @returns {string[]}
 */
export function budgetTable(outcomes) {
  const width = Math.max(0, ...outcomes.map(({ name }) => name.length));
  return outcomes.flatMap(({ name, ok, ms, budgetMs, details }) => {
    const over = ms > budgetMs ? "  over budget" : "";
    const time = `${seconds(ms).padStart(8)} of ${String(budgetMs / 1000).padStart(3)} s`;
    return [
      `  ${ok ? tick : cross} ${name.padEnd(width)} ${time}${over}`,
      ...details.map((line) => dim(`      ${line}`)),
    ];
  });
}

/** @param {readonly Outcome[]} outcomes */
export function verdict(outcomes) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { ok, tests } of outcomes) {
    total.passed += tests?.passed ?? 0;
    total.skipped += tests?.skipped ?? 0;
    // A test file that does not even load fails the step without failing a test.
    total.failed += ok ? 0 : Math.max(1, tests?.failed ?? 0);
  }
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  return `Throughline: ${total.passed} passed, ${total.failed} failed${skipped}`;
}
