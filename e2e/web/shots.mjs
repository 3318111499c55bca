// npm run shots [-- --filter TEXT]
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureReady } from "../../scripts/workspace.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const HELP = `A picture of every page of the console in every state, light and dark, on a desktop and on a phone.

  npm run shots                       all of them, into .throughline/shots; its index.html shows them side by side
  npm run shots -- --filter question  those whose file's name contains this, as thread-state.phone.dark.png
`;

const { values } = parseArgs({
  options: { filter: { type: "string" }, help: { type: "boolean", short: "h" } },
});
if (values.help) process.stdout.write(HELP);
else await main();

async function main() {
  await ensureReady({ forTests: true, withConsole: true });
  const { startVitest } = await import("vitest/node");
  const vitest = await startVitest("test", [], {
    root: ROOT,
    config: false,
    watch: false,
    include: ["e2e/web/shots/take-shots.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default"],
    env: { SHOTS_NAMED: values.filter ?? "" },
  });
  const failed = vitest.state.getCountOfFailedTests();
  await vitest.close();
  process.stdout.write(`${ROOT}/.throughline/shots/index.html\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}
