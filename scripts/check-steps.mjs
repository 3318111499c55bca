// @ts-check
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { commandScript, root, workspacePackages } from "./workspace-packages.mjs";

/**
 * @typedef {import("./steps.mjs").Step} Step
 * @typedef {readonly [script: string, ...args: string[]]} NodeScript
 */

/**
 * A step that runs Node scripts one after the other; what to run is asked late, when everything is installed.
 *
 * @param {string} name
 * @param {number} budgetSeconds
 * @param {() => readonly NodeScript[]} scripts
 * @returns {Step}
 */
function check(name, budgetSeconds, scripts) {
  return {
    name,
    budgetMs: budgetSeconds * 1000,
    run: async ({ timeoutMs }) => {
      for (const args of scripts()) await runCommand(process.execPath, args, { cwd: root, timeoutMs });
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

const builtPublicPackages = () =>
  workspacePackages().filter(({ manifest, folder }) => !manifest.private && inRoot(`${folder}/dist`));

/** @type {readonly Step[]} */
export const checkSteps = [
  check("lint", 30, () => [[commandScript("@biomejs/biome", "biome"), "ci", "--colors=off", "."]]),
  check("types", 150, () =>
    typedProjects().map((folder) => [commandScript("typescript", "tsc"), "--project", folder]),
  ),
  check("boundaries", 30, () =>
    [
      [".dependency-cruiser.mjs", ...sourceFolders()],
      [".dependency-cruiser.rooms.mjs", "packages/langgraph-server/src"],
    ].map((args) => [commandScript("dependency-cruiser", "depcruise"), "--config", ...args]),
  ),
  check("dead code", 30, () => [[commandScript("knip")]]),
  check("package hygiene", 30, () =>
    builtPublicPackages().map(({ folder }) => [
      commandScript("publint"),
      "run",
      folder,
      "--strict",
      "--pack",
      "npm",
    ]),
  ),
  check("drift", 30, () => [[join(root, "scripts/generate.mjs"), "--check"]]),
];
