// npm run e2e -- NAME… [--filter TEXT]
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "..");

const PARTS = {
  executor: "graph-executor against real LangGraph servers: behaviour, cuts, crashes, foreign runs",
};

const LIST = Object.entries(PARTS).map(([name, about]) => `  ${name.padEnd(12)}${about}`);
const HELP = `Whole-system tests against real servers, which they start and stop themselves.

  npm run e2e                              all parts
  npm run e2e -- NAME… [--filter TEXT]     these parts, or only their tests whose name contains the text

${LIST.join("\n")}

The last line says how many passed and failed.
`;

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { filter: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined)
    throw new Error(`No part "${unknown}". There is: ${Object.keys(PARTS).join(", ")}.`);
  const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
  const files = names.flatMap((name) =>
    readdirSync(join(HERE, name))
      .filter((file) => file.endsWith(".e2e.ts"))
      .map((file) => join(HERE, name, file)),
  );
  const vitest = await startVitest("test", files, {
    root: ROOT,
    config: false,
    watch: false,
    include: ["e2e/**/*.e2e.ts"],
    // Every file starts servers of its own; side by side they would only wait for each other.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default"],
    env: { THROUGHLINE_OFFLINE_PACE_MS: "0" },
    ...(values.filter === undefined ? {} : { testNamePattern: values.filter }),
  });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state) => tests.filter((test) => test.result().state === state).length;
  // A file that could not even be loaded, or whose server did not start, has no failed test to show for it.
  const broken = modules.filter((module) => module.errors().length > 0).length;
  const failed = count("failed") + broken;
  await vitest.close();
  process.stdout.write(`${count("passed")} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 || count("passed") === 0 ? 1 : 0;
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
