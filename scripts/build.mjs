// @ts-check
import { readOptions } from "./read-options.mjs";
import { builtSentence, consoleSentence, installedSentence, runStep } from "./steps.mjs";
import { ensureBuilt, ensureConsoleBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

readOptions(
  "npm run build\n\nInstalls what is missing and builds every package, and the console, whose sources changed.",
  {},
);
ensureNode();
await runStep(() => ensureInstalled("run"), installedSentence, { doing: "installing packages" });
await runStep(ensureBuilt, builtSentence, { doing: "building packages" });
await runStep(ensureConsoleBuilt, consoleSentence, { doing: "building the console" });
