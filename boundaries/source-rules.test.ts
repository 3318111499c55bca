import { dirname } from "node:path";
import { expect, test } from "vitest";
import { fixtureRoot } from "./fixtures.ts";
import { sourceFiles } from "./source-files.ts";
import { sourceBreaches, sourceRules } from "./source-rules.ts";

test("the tree breaks no rule about its source text", () => {
  expect(sourceBreaches(dirname(import.meta.dirname))).toEqual([]);
});

test.each(sourceRules.map(({ name }) => name))(
  "%s, and no other rule, is noticed in each file that breaks it",
  (name) => {
    const root = fixtureRoot(name);
    const breaches = sourceBreaches(root);
    expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set([name]));
    expect(breaches.map(({ path }) => path)).toEqual(sourceFiles(root));
  },
);

test("using a contract's name without declaring it is no breach", () => {
  const rule = sourceRules.find(({ name }) => name === "SINGLE_SOURCE_OF_TRUTH");
  const uses = [
    'import type { AiEvent } from "@throughline/ai-core";',
    'import { type UsageFact, type RunContext } from "@throughline/ai-core";',
    'export type { ExecutorType } from "@throughline/ai-core";',
    "export type AiEventReader = (event: AiEvent) => void;",
  ].join("\n");
  expect(rule?.breaks("packages/billing/src/use.ts", uses)).toBe(false);
});

test("reading receipts is no breach", () => {
  const rule = sourceRules.find(({ name }) => name === "ONLY_BILLING_WRITES_RECEIPTS");
  expect(rule?.breaks("packages/langgraph-server/src/usage.ts", "SELECT * FROM charge_receipts")).toBe(false);
});

test("a test may name keys and models", () => {
  const rule = sourceRules.find(({ name }) => name === "NO_HARD_CODED_KEY_OR_MODEL");
  const text = 'const key = "sk-0123456789"; const model = "gpt-5";';
  for (const path of [
    "packages/billing/src/keys/keys.test.ts",
    "packages/billing/src/testing/made-run.ts",
    "e2e/billing/rig.ts",
  ]) {
    expect(rule?.breaks(path, text)).toBe(false);
  }
  expect(rule?.breaks("packages/billing/src/keys/keys.ts", text)).toBe(true);
});

test("texts, rows and names on the wire may use any word", () => {
  const rule = sourceRules.find(({ name }) => name === "FIELD_VOCABULARY");
  const text = [
    'export const help = "Say what you wish for. // told";',
    "export const columns = `select said from said`;",
    "// Renames the file into place.",
    "export const subscribers = [help, columns];",
  ].join("\n");
  expect(rule?.breaks("packages/thread-log/src/texts.ts", text)).toBe(false);
  expect(rule?.breaks("packages/thread-log/src/texts.test.ts", "const told = 1;")).toBe(false);
});
