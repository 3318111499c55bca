import { readFileSync, writeFileSync } from "node:fs";
import { afterAll } from "vitest";
import { hookStatements } from "./statement-hook.js";

// A setup file: records the statements of a test run, or replaces one of them (see `scripts/mutants.mjs`).
const { THROUGHLINE_SQL_RECORD: record, THROUGHLINE_SQL_MUTANT: file } = process.env;
const hook = hookStatements();

if (file !== undefined) {
  // Written by the script.
  const mutant = JSON.parse(readFileSync(file, "utf8")) as { original: string; text: string; sent: string };
  hook.replace(mutant);
  afterAll(() => writeFileSync(mutant.sent, String(hook.replaced())));
}
if (record !== undefined) afterAll(() => writeFileSync(record, JSON.stringify([...hook.seen.values()])));
