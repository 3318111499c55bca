// npm run e2e -- NAME[/FILE]… [--filter TEXT] [--seed N] [--trials N] [--database]
import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runCommand } from "../scripts/run-command.mjs";
import { ensureReady } from "../scripts/workspace.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "..");

const PARTS = {
  executor: "graph-executor against real LangGraph servers: behaviour, cuts, crashes, foreign runs",
  graphs:
    "a gallery of graphs, each compared with the plain graph: in this process and on a LangGraph server",
  server: "the whole service: stock clients, reconnects, crashes, instances, tenants, hostile input",
  life: "daily life: commands and stops, crons, threads, attachments, deletion, OpenAPI, the command line",
  client: "agent-client in Node and in Chromium: cuts, restarts, kills, tokens, tabs, sleep, reloads, tools",
  questions: "every shape of question, asked on a LangGraph server and answered by our client and stock ones",
  outages: "runs and viewers through outages of PostgreSQL, rolling restarts, frozen instances",
  bus: "two instances and their Redis: killed, emptied, paused, failed over; limits over both",
  doors: "what comes in and goes out: files under load, their memory, and what other accounts feel of it",
  billing: "model calls through a real LiteLLM: every one with the right key, and one receipt each",
  web: "the console in a real browser: first visits, recovery, tabs and accounts, accessibility, long logs",
  stock: "the stock world: LangGraphAgent with connect(), CopilotKit's runtime and chat, the AI SDK",
  install: "tarballs in a folder of their own: npm and pnpm, a new project, its page, its console, each Node",
  versions:
    "tarballs among each minor of LangGraph 1: a gallery's graphs, each compared with the plain graph",
  containers: "images from a clean clone, and the compose topology: runs, kills of each container, replicas",
};

const LIST = Object.entries(PARTS).map(([name, about]) => `  ${name.padEnd(12)}${about}`);
const HELP = `Whole-system tests against real servers, which they start and stop themselves.

  npm run e2e                              all parts
  npm run e2e -- NAME… [--filter TEXT]     these parts, or only their tests whose name contains the text
  npm run e2e -- NAME/FILE…                one file of a part: web/inbox

  --seed N     what is random begins here; without it a seed is chosen, and printed
  --trials N   how often what is random is tried; without it as often as each test thinks enough
  --database   billing also with a LiteLLM that has a database, which takes some minutes more

${LIST.join("\n")}

What they need is installed and built first. The last line says how many passed and failed.
`;

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      filter: { type: "string" },
      seed: { type: "string" },
      trials: { type: "string" },
      database: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const seed = wholeNumber("seed", values.seed) ?? randomInt(2 ** 31);
  const trials = wholeNumber("trials", values.trials);
  const chosen = positionals.length > 0 ? positionals : Object.keys(PARTS);
  const files = chosen.flatMap(testFiles);
  const names = chosen.map((each) => each.split("/")[0]);
  await ensureReady({ forTests: true, withConsole: names.includes("web") });
  // Its tests share the tarballs, which nothing else needs.
  if (names.includes("install") || names.includes("versions"))
    await runCommand(process.execPath, ["scripts/pack.mjs"], { cwd: ROOT });
  process.stdout.write(`seed ${seed}\n`);
  const { startVitest } = await import("vitest/node");
  const vitest = await startVitest("test", files, {
    root: ROOT,
    config: false,
    watch: false,
    include: ["e2e/**/*.{e2e,test}.ts"],
    // Every file starts servers of its own; side by side they would only wait for each other.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ["default"],
    env: {
      THROUGHLINE_OFFLINE_PACE_MS: "0",
      THROUGHLINE_SEED: String(seed),
      ...(trials === undefined ? {} : { THROUGHLINE_TRIALS: String(trials) }),
      E2E_DATABASE: values.database ? "yes" : "no",
      COPILOTKIT_TELEMETRY_DISABLED: "true",
      DO_NOT_TRACK: "1",
    },
    ...(values.filter === undefined ? {} : { testNamePattern: escaped(values.filter) }),
  });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state) => tests.filter((test) => test.result().state === state).length;
  // A file that could not even be loaded, or whose server did not start, has no failed test to show for it.
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const broken = suites.filter((suite) => suite.errors().length > 0).length;
  // What a test did not wait for may fail after it has passed.
  const unhandled = vitest.state.getUnhandledErrors().length;
  const failed = count("failed") + broken + unhandled;
  await vitest.close();
  if (failed > 0) process.stdout.write(`Again with the same: --seed ${seed}\n`);
  process.stdout.write(`${count("passed")} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 || count("passed") === 0 ? 1 : 0;
}

/** All files of a part, or the one that is named behind its slash. */
function testFiles(chosen) {
  const [name, only] = chosen.split("/");
  if (!Object.hasOwn(PARTS, name))
    throw new Error(`Unknown part "${name}". Available: ${Object.keys(PARTS).join(", ")}.`);
  // What `npm test` runs too is a `.test.ts`.
  const files = readdirSync(join(HERE, name)).filter((file) => /\.(e2e|test)\.ts$/.test(file));
  const stem = (file) => file.replace(/\.(e2e|test)\.ts$/, "");
  const wanted = files.filter((file) => only === undefined || stem(file) === only);
  if (wanted.length === 0)
    throw new Error(`Unknown file "${only}" of ${name}. Available: ${files.map(stem).join(", ")}.`);
  return wanted.map((file) => join(HERE, name, file));
}

function wholeNumber(name, text) {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}".`);
  return Number(text);
}

/** The filter is a text, and vitest takes a pattern. */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
