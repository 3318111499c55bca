// @ts-check
// Every promise of docs/protocol.md names a test that holds it, and the test is there.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./workspace-packages.mjs";

const PAGE = join(root, "docs", "protocol.md");
const TESTS = "## 11 Tests";
const ROW = /^- \*\*P(\d+)\*\* \[[^\]]*\]\(([^)]+)\): (.+)$/;

/**
 * What is wrong with the page's promises and the list of their tests, a sentence each.
 *
 * @param {string} page
 * @param {(path: string) => string | undefined} readTest By its path as the page links to it.
 * @returns {string[]}
 */
export function protocolProblems(page, readTest) {
  const [text = "", list] = page.split(`\n${TESTS}\n`);
  if (list === undefined) return [`There is no section "${TESTS}".`];
  const rows = list
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => ROW.exec(line) ?? line);
  const promised = [...text.matchAll(/^- \*\*P(\d+)\*\*/gm)].map(([, number]) => number);
  const held = new Set(rows.flatMap((row) => (typeof row === "string" ? [] : [row[1]])));
  return [
    ...repeated(promised).map((number) => `P${number} is promised twice.`),
    ...promised.filter((number) => !held.has(number)).map((number) => `P${number} names no test.`),
    ...strayMusts(text).map((line) => `This MUST belongs to no numbered promise: ${line}`),
    ...rows.flatMap((row) => rowProblems(row, promised, readTest)),
  ];
}

/**
 * @param {RegExpExecArray | string} row
 * @param {readonly (string | undefined)[]} promised
 * @param {(path: string) => string | undefined} readTest
 * @returns {string[]}
 */
function rowProblems(row, promised, readTest) {
  if (typeof row === "string") return [`This row can't be read: ${row}`];
  const [, number, path = "", name = ""] = row;
  const source = readTest(path);
  if (!promised.includes(number)) return [`P${number} has a test and is promised nowhere.`];
  if (source === undefined) return [`P${number} names a file that is not there: ${path}`];
  return hasTest(source, name) ? [] : [`P${number}: ${path} has no test called ${name}`];
}

/**
 * Whether the source passes the name to a function, as `it`, `describe` and `it.each(…)` are passed theirs.
 *
 * @param {string} source
 * @param {string} name
 */
function hasTest(source, name) {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\(\\s*(["'\`])${literal}\\1`).test(source);
}

/**
 * Lines with a MUST that stand outside a numbered item.
 *
 * @param {string} text
 */
function strayMusts(text) {
  let isInside = false;
  return text.split("\n").filter((line) => {
    if (/^- \*\*P\d+\*\*/.test(line)) isInside = true;
    else if (!line.startsWith("  ")) isInside = false;
    return !isInside && /\bMUST\b/.test(line) && !line.includes("RFC 2119");
  });
}

/** @param {readonly (string | undefined)[]} values */
function repeated(values) {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = protocolProblems(readFileSync(PAGE, "utf8"), (path) => {
    const file = join(dirname(PAGE), path);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  });
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
}
