import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import { expect, test } from "vitest";
import configuration from "../.dependency-cruiser.mjs";
import rooms from "../.dependency-cruiser.rooms.mjs";
import { fixtureNames, fixtureRoot, topFolders } from "./fixtures.ts";
import { sourceFiles } from "./source-files.ts";
import { sourceRules } from "./source-rules.ts";

const configurations = [configuration, rooms];
const rules = configurations.flatMap((config) =>
  (config.forbidden ?? []).map(({ name = "" }) => ({ name, config })),
);
const ruleNames = [...new Set(rules.map(({ name }) => name))];

/** By the cruise that has the rule, else by the first. */
async function violations(root: string, rule?: string): Promise<ICruiseResult["summary"]["violations"]> {
  const { options: all = {}, forbidden = [] } =
    rules.find(({ name }) => name === rule)?.config ?? configuration;
  const { exclude: _, ...options } = all;
  const { output } = await cruise(topFolders(root), {
    ...options,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden },
  });
  if (typeof output === "string") throw new Error("expected the result as an object");
  return output.summary.violations;
}

/** In a fixture, every file that imports something breaks the rule; the others are there to be imported. */
function importers(root: string): string[] {
  return sourceFiles(root)
    .filter((path) => readFileSync(join(root, path), "utf8").startsWith("import "))
    .sort();
}

test.each(ruleNames)("%s, and no other rule, is noticed in each file that breaks it", async (name) => {
  const root = fixtureRoot(name);
  const found = await violations(root, name);
  expect(new Set(found.map(({ rule }) => rule.name))).toEqual(new Set([name]));
  const caught = found.flatMap(({ from, cycle }) => cycle?.map(({ name }) => name) ?? from);
  // A rule about folders names folders.
  const breaking = importers(root).map((file) => (name === "NO_ROOM_CYCLES" ? dirname(file) : file));
  expect([...new Set(caught)].sort()).toEqual([...new Set(breaking)]);
});

test("a package that is built and linked is recognised as well as one that is not", async () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "throughline-boundaries-"));
  try {
    cpSync(fixtureRoot("SIBLINGS_MEET_IN_AI_CORE"), root, { recursive: true });
    mkdirSync(join(root, "packages/thread-log/dist"), { recursive: true });
    writeFileSync(join(root, "packages/thread-log/dist/index.js"), "export {};");
    writeFileSync(
      join(root, "packages/thread-log/package.json"),
      JSON.stringify({ name: "@throughline/thread-log", exports: "./dist/index.js" }),
    );
    mkdirSync(join(root, "packages/billing/node_modules/@throughline"), { recursive: true });
    symlinkSync(
      join(root, "packages/thread-log"),
      join(root, "packages/billing/node_modules/@throughline/thread-log"),
      "junction",
    );
    const found = await violations(root);
    expect(found.map(({ rule, to }) => [rule.name, to])).toEqual([
      ["SIBLINGS_MEET_IN_AI_CORE", "packages/thread-log/dist/index.js"],
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("every rule has a fixture that breaks it, and every fixture a rule", () => {
  const all = [...ruleNames, ...sourceRules.map(({ name }) => name)].sort();
  expect(fixtureNames).toEqual(all);
});

test("the architecture names rules that there are", () => {
  const page = readFileSync(new URL("../docs/architecture.md", import.meta.url), "utf8");
  const table = page.split("| rule ")[1]?.split("\n\n")[0] ?? "";
  const named = table
    .split("\n")
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name));
  const all = [...ruleNames, ...sourceRules.map(({ name }) => name)];
  expect(named.length).toBeGreaterThan(9);
  expect(named.filter((name) => !all.includes(name))).toEqual([]);
});
