// @ts-check
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseOption } from "./read-options.mjs";
import { runService } from "./run-service.mjs";
import { readStartOptions } from "./start-options.mjs";
import {
  bold,
  builtSentence,
  consoleSentence,
  cross,
  dim,
  installedSentence,
  runStep,
  seconds,
  tick,
} from "./steps.mjs";
import { ensureBuilt, ensureConsoleBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const USAGE = [
  "npm start [-- FLAGS]",
  "",
  "Installs what is missing, builds what changed and runs service and console together: the seven agents, a PostgreSQL of its own",
  "in .throughline/, and a page to watch and steer them, whose address is printed. Needs no key: without one, an offline model",
  "answers. Ctrl-C stops everything. A service that ends because of an error in a graph is restarted, three times a minute at most.",
  "",
  "  npm start -- --console-port 4000   the console's port (default: THROUGHLINE_CONSOLE_PORT, else 3000 or the next free one)",
  "  npm start -- --port 9000           the service's port (default: PORT, else 8000 or the next free one)",
  "  npm start -- --no-console          the service alone",
  "",
  "Other flags are those of `throughline serve`.",
  "",
  "Some of what the environment may say; docs/configuration.md has all of it, docs/console.md what is about the console:",
  "  LANGGRAPH_DATABASE_URL   your own PostgreSQL instead of the embedded one",
  "  LANGGRAPH_DEV_URL        run the agents on a LangGraph dev server; LANGGRAPH_SERVER_URL: on a LangGraph server",
  "  LITELLM_BASE_URL         real models, with LITELLM_API_KEY",
  "  THROUGHLINE_LOG_LEVEL    silent, error, warn, info or debug (default: warn)",
  "  THROUGHLINE_JWT_SECRET   people must sign in; THROUGHLINE_JWKS_URL: with your issuer's keys",
  "  THROUGHLINE_HOST         listen on this address; all but loopback need sign-in",
].join("\n");

const flags = process.argv.slice(2);
if (flags.includes("--help") || flags.includes("-h")) {
  console.log(USAGE);
  process.exit(0);
}
const options = readOptionsOrLeave();

ensureNode();
console.log(bold("Throughline"));
await runStep(() => ensureInstalled("run"), installedSentence, { doing: "installing packages" });
await runStep(ensureBuilt, builtSentence, { doing: "building packages" });
if (options.isConsoleWanted) {
  await runStep(ensureConsoleBuilt, consoleSentence, { doing: "building the console" });
}

/** @type {import("../packages/console/dist/index.js").RunningConsole | undefined} */
let running;
let isLost = false;

// Built only a moment ago, in a fresh clone.
const {
  addressOf,
  consolePort: chooseConsolePort,
  reachableUrl,
} = await import("../packages/console/dist/index.js");
// Before the service starts, so that its own address can lead to the console.
const consolePort = options.isConsoleWanted ? await consolePortOrLeave() : undefined;
const service = runService({
  order: {
    args: options.forService,
    defaults: {
      THROUGHLINE_LOG_LEVEL: "warn",
      THROUGHLINE_DRAIN_MS: "2000",
      THROUGHLINE_DATA_DIR: join(ROOT, ".throughline", "postgres"),
      // The demo, served as any project is.
      THROUGHLINE_CONFIG: join(ROOT, "packages", "langgraph-graphs", "langgraph.json"),
      ...(consolePort !== undefined && {
        THROUGHLINE_CONSOLE_URL: reachableUrl(addressOf(options.host, consolePort)),
      }),
    },
    hasWelcome: !options.isConsoleWanted,
  },
  onServing(serving) {
    if (consolePort !== undefined)
      openConsole(serving, consolePort).then((text) => process.stdout.write(text), giveUp);
  },
  onTrouble: (sentence) => console.error(`${cross} ${sentence}`),
});

let interrupts = 0;
process.on("SIGINT", () => {
  interrupts += 1;
  // The second does not wait for runs, the third not even for the service.
  service.signal(interrupts > 2 ? "SIGKILL" : "SIGINT");
});
process.on("SIGTERM", () => service.signal("SIGTERM"));
// npm runs this through a shell that passes no signal on: when our parent is gone, we end.
const startedBy = process.ppid;
setInterval(() => process.ppid === startedBy || service.stop(), 1_000).unref();

const code = await service.ended;
await running?.stop();
process.exit(isLost ? 1 : code);

/** @param {unknown} error */
function giveUp(error) {
  console.error(error instanceof Error ? error.message : String(error));
  isLost = true;
  service.stop();
}

/**
 * @param {import("../packages/cli/dist/index.js").ServerInfo} serving
 * @param {number} port
 * @returns {Promise<string>}
 */
async function openConsole({ url, agents, signIn }, port) {
  const started = performance.now();
  const { runConsole } = await import("./run-console.mjs");
  running = await runConsole({
    host: options.host,
    port,
    serviceUrl: reachableUrl(url),
    signIn: signIn === "dev" ? "account" : "token",
    onTrouble: (sentence) => console.error(`${cross} ${sentence}`),
    onLost(sentence) {
      console.error(
        `${cross} ${sentence}\n  Everything is stopped. Run npm start again, or npm start -- --no-console.`,
      );
      isLost = true;
      service.stop();
    },
  });
  const names = agents.map((id) => id.replace(/^langgraph:/, ""));
  return [
    `${tick} console started${dim(` (${seconds(performance.now() - started)})`)}`,
    "",
    `  ${bold(running.url)}`,
    `  agents: ${names.join(", ")}`,
    `  service on port ${new URL(url).port}`,
    "",
    dim("  Ctrl-C stops everything."),
    "",
  ].join("\n");
}

async function consolePortOrLeave() {
  try {
    return await chooseConsolePort(options.host, options.consolePort);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return process.exit(1);
  }
}

function readOptionsOrLeave() {
  try {
    return readStartOptions(flags, process.env);
  } catch (error) {
    return refuseOption(error instanceof Error ? error.message.replace(/\.$/, "") : String(error));
  }
}
