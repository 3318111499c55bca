// @ts-check
import { readOptions } from "./read-options.mjs";
import { builtSentence, installedSentence, runStep } from "./steps.mjs";
import { ensureBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

readOptions("npm run build\n\nInstalls what is missing and builds every package whose sources changed.", {});
ensureNode();
await runStep(() => ensureInstalled("run"), installedSentence);
await runStep(ensureBuilt, builtSentence);
