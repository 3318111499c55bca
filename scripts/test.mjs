// @ts-check

import { checkSteps } from "./check-steps.mjs";
import { ensureServices } from "./ensure-services.mjs";
import { readOptions, refuseOption } from "./read-options.mjs";
import { bold, budgetTable, runSteps, verdict, withNeeds } from "./steps.mjs";
import { unitStep } from "./unit-step.mjs";
import { ensureBuilt, ensureConsoleBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const SIDE_BY_SIDE = 2;

/** @type {readonly import("./steps.mjs").Step[]} */
const setUpSteps = [
  {
    name: "install",
    budgetMs: 90_000,
    run: async () => {
      await ensureInstalled("all");
      await ensureServices();
      return {};
    },
  },
  {
    name: "build",
    budgetMs: 90_000,
    needs: ["install"],
    run: async () => {
      await ensureBuilt();
      return {};
    },
  },
  {
    name: "console",
    budgetMs: 90_000,
    needs: ["build"],
    run: async () => {
      await ensureConsoleBuilt();
      return {};
    },
  },
];
// The tests are what takes longest, so they begin as soon as they can.
const steps = [...setUpSteps, unitStep, ...checkSteps];

const { only } = readOptions(
  [
    "npm test [-- --only NAME]",
    "",
    "Installs what is missing, builds what changed, then runs every check and every test.",
    "",
    "  --only NAME  checks, unit, or one of the steps:",
    ...[...checkSteps, unitStep].map(({ name }) => `                 ${name}`),
  ].join("\n"),
  { only: { type: "string" } },
);

/** @param {string | undefined} name */
function stepsNamed(name) {
  if (name === undefined) return steps;
  if (name === "checks") return checkSteps;
  if (name === "unit") return [unitStep];
  const found = steps.filter((step) => step.name === name);
  return found.length > 0 ? found : refuseOption(`There is no step "${name}"`);
}

const chosen = withNeeds(steps, stepsNamed(only));
ensureNode();
console.log(bold("Throughline"));

const outcomes = await runSteps(chosen, { limit: SIDE_BY_SIDE, write: console.log });
console.log(["", ...budgetTable(outcomes), "", verdict(outcomes)].join("\n"));
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;
