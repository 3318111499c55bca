import { expect, test } from "vitest";
import { countTests, partLines } from "./unit-step.mjs";

const file = (name: string, tests: number, ms: number) => ({
  name: `/repo/${name}`,
  startTime: 0,
  endTime: ms,
  assertionResults: Array.from({ length: tests }),
});

const report = {
  numPassedTests: 5,
  numFailedTests: 1,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults: [
    file("packages/ai-core/src/a.test.ts", 2, 500),
    file("scripts/b.test.ts", 1, 100),
    file("packages/ai-core/src/c.test.ts", 3, 700),
  ],
};

test("skipped and unwritten tests both count as skipped", () => {
  expect(countTests(report)).toEqual({ passed: 5, failed: 1, skipped: 3 });
});

test("tests and times are summed per package or root folder", () => {
  expect(partLines(report, "/repo")).toEqual([
    "ai-core: 5 tests, 1.2 s of 60 s",
    "scripts: 1 tests, 0.1 s of 60 s",
  ]);
});
