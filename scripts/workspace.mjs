// @ts-check
import { ensureBuilt, ensureConsoleBuilt } from "./ensure-built.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { builtSentence, installedSentence, runStep } from "./steps.mjs";

export { ensureBuilt, ensureConsoleBuilt, ensureInstalled };

/** An older Node fails later and less clearly. */
export function ensureNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(
    `Throughline needs Node 20.19 or newer, this is ${version}. Install one from https://nodejs.org.`,
  );
  process.exit(1);
}

/**
 * Makes a fresh clone runnable. Silent when nothing is to do; what it says goes to stderr, because a command that
 * prints JSON calls this first.
 */
export async function ensureReady() {
  ensureNode();
  const onlyChanges = { write: (/** @type {string} */ line) => console.error(line), onlyChanges: true };
  await runStep(() => ensureInstalled("run"), installedSentence, onlyChanges);
  await runStep(ensureBuilt, builtSentence, onlyChanges);
}
