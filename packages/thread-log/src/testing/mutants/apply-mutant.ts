import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { hookStatements, type SeenStatement } from "./statement-hook.js";

/** What `THROUGHLINE_SQL_RECORD` becomes. */
export interface Recorded {
  readonly statements: readonly SeenStatement[];
  /** The texts that each test file sends. */
  readonly sent: Readonly<Record<string, readonly string[]>>;
}

// A setup file: records the statements of a test run, or replaces one of them (see `scripts/mutants.mjs`).
const { THROUGHLINE_SQL_RECORD: record, THROUGHLINE_SQL_MUTANT: file } = process.env;
const hook = hookStatements();
hook.takeSent();

if (file !== undefined) {
  // Written by the script.
  const mutant = JSON.parse(readFileSync(file, "utf8")) as { original: string; text: string; sent: string };
  hook.replace(mutant);
  afterAll(() => writeFileSync(mutant.sent, String(hook.replaced())));
}
if (record !== undefined) {
  afterAll(() => {
    const { testPath = "" } = expect.getState();
    const recorded: Recorded = {
      statements: [...hook.seen.values()],
      sent: { ...sentBefore(record), [testPath]: [...hook.takeSent()] },
    };
    writeFileSync(record, JSON.stringify(recorded));
  });
}

/** Files run one after the other, each with this setup. */
function sentBefore(record: string): Recorded["sent"] {
  try {
    return (JSON.parse(readFileSync(record, "utf8")) as Recorded).sent;
  } catch {
    return {};
  }
}
