// @ts-check

import { checkSteps } from "./check-steps.mjs";
import { ensureServices } from "./ensure-services.mjs";
import { readOptions, refuseOption } from "./read-options.mjs";
import { bold, budgetTable, runSteps, verdict } from "./steps.mjs";
import { unitStep } from "./unit-step.mjs";
import { ensureBuilt, ensureConsoleBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const SIDE_BY_SIDE = 2;

const setUp = {
  name: "install and build",
  budgetMs: 180_000,
  run: async () => {
    await ensureInstalled("all");
    await ensureServices();
    await ensureBuilt();
    await ensureConsoleBuilt();
    return {};
  },
};
const steps = [...checkSteps, unitStep];

const { only } = readOptions(
  [
    "npm test [-- --only NAME]",
    "",
    "Installs what is missing, builds what changed, then runs every check and every test.",
    "",
    "  --only NAME  checks, unit, or one of the steps:",
    ...steps.map(({ name }) => `                 ${name}`),
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

const chosen = stepsNamed(only);
ensureNode();
console.log(bold("Throughline"));

const prepared = await runSteps([setUp], { limit: 1, write: console.log });
const ready = prepared.every(({ ok }) => ok);
const outcomes = ready ? await runSteps(chosen, { limit: SIDE_BY_SIDE, write: console.log }) : [];

const all = [...prepared, ...outcomes];
console.log(["", ...budgetTable(all), "", verdict(all)].join("\n"));
process.exitCode = all.every(({ ok }) => ok) ? 0 : 1;
