import { describe, expect, it } from "vitest";
import { protocolProblems } from "./check-protocol.mjs";

const SOURCE =
  'describe("Runs", () => {\n  it.each([1])(\n    "P2: end %s (once)",\n    () => {},\n  );\n});';
const read = (path: string) => (path === "a.test.ts" ? SOURCE : undefined);

const page = (promises: string, rows: string) => `# Page\n\n${promises}\n\n## 11 Tests\n\n${rows}\n`;
const GOOD = "- **P2** A run MUST end,\n  and MUST end once.";
const ROW = "- **P2** [a](a.test.ts): P2: end %s (once)";

describe("The protocol's check", () => {
  it("accepts promises whose tests are there", () => {
    expect(protocolProblems(page(GOOD, ROW), read)).toEqual([]);
  });

  it.each([
    ["a promise without a test", page(`${GOOD}\n- **P3** It MUST.`, ROW), "P3 names no test."],
    ["a number that is used twice", page(`${GOOD}\n${GOOD}`, ROW), "P2 is promised twice."],
    [
      "a MUST without a number",
      page(`${GOOD}\n\nIt MUST.`, ROW),
      "This MUST belongs to no numbered promise: It MUST.",
    ],
    [
      "a file that is not there",
      page(GOOD, "- **P2** [b](b.test.ts): P2: end %s (once)"),
      "P2 names a file that is not there: b.test.ts",
    ],
    [
      "a test that was renamed",
      page(GOOD, "- **P2** [a](a.test.ts): P2: end"),
      "P2: a.test.ts has no test called P2: end",
    ],
    [
      "a test of no promise",
      page(GOOD, `${ROW}\n- **P9** [a](a.test.ts): Runs`),
      "P9 has a test and is promised nowhere.",
    ],
    ["a row of another form", page(GOOD, `${ROW}\n- **P2** later`), "This row can't be read: - **P2** later"],
    ["no list of tests", GOOD, 'There is no section "## 11 Tests".'],
  ])("finds %s", (_, text, problem) => {
    expect(protocolProblems(text, read)).toEqual([problem]);
  });
});
