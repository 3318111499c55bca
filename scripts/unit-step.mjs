// @ts-check
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CommandFailed, runCommand } from "./run-command.mjs";
import { seconds, TestsFailed } from "./steps.mjs";
import { commandScript, root } from "./workspace-packages.mjs";

/**
 * The part of vitest's JSON report that we read.
 *
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {{ name: string; startTime: number; endTime: number; assertionResults: unknown[] }[]} testResults
 */

/** @type {Readonly<Record<string, number>>} Parts that start databases and servers. */
const PART_BUDGETS_MS = {
  "thread-log": 150_000,
  "graph-executor": 90_000,
  "langgraph-server": 150_000,
  cli: 90_000,
  // With two browsers.
  e2e: 120_000,
  chaos: 90_000,
};
const DEFAULT_BUDGET_MS = 60_000;

/** @param {Report} report */
export function countTests(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * One line per package or root folder: how many tests it has and how long they ran, files side by side counted fully.
 *
 * @param {Report} report
 * @param {string} base
 */
export function partLines({ testResults }, base) {
  /** @type {Map<string, { tests: number; ms: number }>} */
  const parts = new Map();
  for (const { name, startTime, endTime, assertionResults } of testResults) {
    const [top = "", second = ""] = relative(base, name).split(/[\\/]/);
    const key = top === "packages" || top === "apps" ? second : top;
    const part = parts.get(key) ?? { tests: 0, ms: 0 };
    parts.set(key, { tests: part.tests + assertionResults.length, ms: part.ms + (endTime - startTime) });
  }
  return [...parts].sort().map(([name, { tests, ms }]) => {
    const budgetMs = PART_BUDGETS_MS[name] ?? DEFAULT_BUDGET_MS;
    const over = ms > budgetMs ? "  over budget" : "";
    return `${name}: ${tests} tests, ${seconds(ms)} of ${budgetMs / 1000} s${over}`;
  });
}

/** @type {import("./steps.mjs").Step} */
export const unitStep = {
  name: "unit tests",
  budgetMs: 400_000,
  needs: ["build", "console"],
  run: async ({ timeoutMs }) => {
    const folder = mkdtempSync(join(tmpdir(), "throughline-tests-"));
    const reportPath = join(folder, "report.json");
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`];
    /** @returns {Report | undefined} */
    const readReport = () =>
      existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, "utf8")) : undefined;
    try {
      await runCommand(process.execPath, [commandScript("vitest"), ...args], { cwd: root, timeoutMs });
      const report = readReport();
      return report ? { tests: countTests(report), details: partLines(report, root) } : {};
    } catch (error) {
      const report = readReport();
      if (error instanceof CommandFailed && report) throw new TestsFailed(error, countTests(report));
      throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
