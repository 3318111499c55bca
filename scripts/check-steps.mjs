// @ts-check
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runCommand } from "./run-command.mjs";
import { commandScript, root, workspacePackages } from "./workspace-packages.mjs";

/**
 * @typedef {import("./steps.mjs").Step} Step
 * @typedef {[script: string, ...args: string[]]} NodeScript
 */

/**
 * A step that runs a Node script; which one is asked late, when everything is installed.
 *
 * @param {string} name
 * @param {{ budgetSeconds: number; needs: readonly string[] }} limits
 * @param {() => NodeScript} script
 * @returns {Step}
 */
function check(name, { budgetSeconds, needs }, script) {
  return {
    name,
    budgetMs: budgetSeconds * 1000,
    needs,
    run: async ({ timeoutMs }) => {
      await runCommand(process.execPath, script(), { cwd: root, timeoutMs });
      return {};
    },
  };
}

const inRoot = (/** @type {string} */ path) => existsSync(join(root, path));

const typedProjects = () =>
  [".", ...workspacePackages().map(({ folder }) => folder)].filter((folder) =>
    inRoot(`${folder}/tsconfig.json`),
  );

const sourceFolders = () =>
  workspacePackages().map(({ folder }) => (inRoot(`${folder}/src`) ? `${folder}/src` : folder));

const INSTALLED = { budgetSeconds: 30, needs: ["install"] };
const BUILT = { budgetSeconds: 30, needs: ["build"] };

/**
 * TypeScript 7 on all projects at once. Builds stay on the version that their tools can load.
 *
 * @type {Step}
 */
const typesStep = {
  name: "types",
  budgetMs: 30_000,
  needs: BUILT.needs,
  run: async ({ timeoutMs }) => {
    // Its own script would start the compiler as a child, which outlives a script that is stopped.
    const locator = join(root, "node_modules", "typescript-7", "lib", "getExePath.js");
    const { default: compilerPath } = await import(pathToFileURL(locator).href);
    // More threads check the same libraries more often.
    const threads = ["--builders", "2", "--checkers", "1"];
    await runCommand(compilerPath(), ["--build", ...threads, ...typedProjects()], { cwd: root, timeoutMs });
    return {};
  },
};

/** @type {readonly Step[]} */
export const checkSteps = [
  check("lint", INSTALLED, () => [commandScript("@biomejs/biome", "biome"), "ci", "--colors=off", "."]),
  typesStep,
  check("boundaries", BUILT, () => [
    commandScript("dependency-cruiser", "depcruise"),
    "--config",
    ".dependency-cruiser.mjs",
    ...sourceFolders(),
  ]),
  check("rooms", BUILT, () => [
    commandScript("dependency-cruiser", "depcruise"),
    "--config",
    ".dependency-cruiser.rooms.mjs",
    "packages/langgraph-server/src",
    "packages/billing/src",
    "packages/cli/src",
  ]),
  check("dead code", BUILT, () => [commandScript("knip")]),
  check("package hygiene", BUILT, () => [join(root, "scripts/check-packages.mjs")]),
  check("protocol", INSTALLED, () => [join(root, "scripts/check-protocol.mjs")]),
  check("drift", BUILT, () => [join(root, "scripts/generate.mjs"), "--check"]),
];
