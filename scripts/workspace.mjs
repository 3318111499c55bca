// @ts-check
import { ensureBuilt, ensureConsoleBuilt } from "./ensure-built.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { ensureServices } from "./ensure-services.mjs";
import { builtSentence, consoleSentence, installedSentence, runStep, servicesSentence } from "./steps.mjs";

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
 *
 * @param {{ forTests?: boolean; withConsole?: boolean }} [options] `forTests`: with what only tests and benches use
 */
export async function ensureReady({ forTests = false, withConsole = false } = {}) {
  ensureNode();
  /** @param {string} doing */
  const quietly = (doing) => ({
    write: (/** @type {string} */ line) => console.error(line),
    onlyChanges: true,
    doing,
  });
  const level = forTests ? "all" : "run";
  await runStep(() => ensureInstalled(level), installedSentence, quietly("installing packages"));
  if (forTests) await runStep(ensureServices, servicesSentence, quietly("installing what tests start"));
  await runStep(ensureBuilt, builtSentence, quietly("building packages"));
  if (withConsole) await runStep(ensureConsoleBuilt, consoleSentence, quietly("building the console"));
}
