import { expect, test } from "vitest";
import { CommandFailed } from "./run-command.mjs";
import { budgetTable, runSteps, TestsFailed, verdict, withNeeds } from "./steps.mjs";

const fine = (name: string) => ({ name, budgetMs: 1_000, run: async () => ({}) });
const broken = (name: string, error: Error) => ({
  name,
  budgetMs: 1_000,
  run: async () => {
    throw error;
  },
});

test("a failing step shows everything it said and the others still run", async () => {
  const lines: string[] = [];
  const outcomes = await runSteps(
    [
      broken("lint", new CommandFailed("ended with exit code 1: biome", "line one\nline two\n")),
      fine("types"),
    ],
    { limit: 1, write: (line) => lines.push(line) },
  );
  expect(outcomes.map(({ name, ok }) => [name, ok])).toEqual([
    ["lint", false],
    ["types", true],
  ]);
  expect(lines.join("\n")).toContain("line one\nline two\nended with exit code 1: biome");
});

test("the last line counts tests, and a failing check as one failure", async () => {
  const tests = {
    name: "unit",
    budgetMs: 1_000,
    run: async () => ({ tests: { passed: 12, failed: 0, skipped: 0 } }),
  };
  const write = () => {};
  expect(verdict(await runSteps([tests], { limit: 1, write }))).toBe("Throughline: 12 passed, 0 failed");
  expect(verdict(await runSteps([tests, broken("lint", new Error("no"))], { limit: 1, write }))).toBe(
    "Throughline: 12 passed, 1 failed",
  );
});

test("failing tests are counted one by one and skipped ones are mentioned", async () => {
  const failure = new TestsFailed(new CommandFailed("ended", ""), { passed: 3, failed: 2, skipped: 1 });
  const outcomes = await runSteps([broken("unit", failure)], { limit: 1, write: () => {} });
  expect(verdict(outcomes)).toBe("Throughline: 3 passed, 2 failed, 1 skipped");
});

test("a test file that does not load is a failure although no test failed", async () => {
  const failure = new TestsFailed(new CommandFailed("ended", ""), { passed: 3, failed: 0, skipped: 0 });
  const outcomes = await runSteps([broken("unit", failure)], { limit: 1, write: () => {} });
  expect(verdict(outcomes)).toBe("Throughline: 3 passed, 1 failed");
});

test("a step that took longer than its budget is marked in the table", () => {
  const outcome = { ok: true, budgetMs: 1_000, tests: undefined, details: [] };
  const [slow, quick] = budgetTable([
    { ...outcome, name: "slow", ms: 2_500 },
    { ...outcome, name: "quick", ms: 300 },
  ]);
  expect(slow).toMatch(/slow .*2\.5 s of {3}1 s {2}over budget/);
  expect(quick).toMatch(/quick .*0\.3 s of {3}1 s$/);
});

test("a step waits for what it needs, and does not run without it", async () => {
  const ran: string[] = [];
  const lines: string[] = [];
  const step = (name: string, needs: string[], error?: Error) => ({
    name,
    budgetMs: 1_000,
    needs,
    run: async () => {
      ran.push(name);
      if (error) throw error;
      return {};
    },
  });
  const outcomes = await runSteps(
    [
      step("unit", ["console"]),
      step("types", ["build"]),
      step("lint", []),
      step("console", ["build"], new Error("broken")),
      step("build", []),
    ],
    { limit: 2, write: (line) => lines.push(line) },
  );
  expect(ran.toSorted()).toEqual(["build", "console", "lint", "types"]);
  expect(ran.indexOf("build")).toBeLessThan(ran.indexOf("types"));
  expect(lines.join("\n")).toContain("unit (not run without: console)");
  expect(verdict(outcomes)).toBe("Throughline: 0 passed, 1 failed");
});

test("a chosen step brings along what it needs, and what that needs", () => {
  const step = (name: string, needs: string[] = []) => ({ ...fine(name), needs });
  const all = [
    step("install"),
    step("build", ["install"]),
    step("lint", ["install"]),
    step("unit", ["build"]),
  ];
  const chosen = all.filter(({ name }) => name === "unit");
  expect(withNeeds(all, chosen).map(({ name }) => name)).toEqual(["install", "build", "unit"]);
});
