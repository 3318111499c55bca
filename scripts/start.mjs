// @ts-check
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readOptions, refuseOption } from "./read-options.mjs";
import { bold, builtSentence, dim, installedSentence, runStep } from "./steps.mjs";
import { ensureBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const options = readOptions(
  [
    "npm start [-- --port N]",
    "",
    "Installs what is missing, builds what changed and starts the service: the six agents, a PostgreSQL of its own in",
    ".throughline/, and the AG-UI routes in front of them. Needs no key: without one, an offline model answers.",
    "Ctrl-C stops everything.",
    "",
    "  --port N  listen on this port (default: PORT, else 8000 or the next free one)",
    "",
    "Some of what the environment may say:",
    "  LANGGRAPH_DATABASE_URL   your own PostgreSQL instead of the embedded one",
    "  LANGGRAPH_DEV_URL        run the agents on a LangGraph dev server; LANGGRAPH_SERVER_URL: on a LangGraph server",
    "  LITELLM_BASE_URL         real models, with LITELLM_API_KEY",
    "  THROUGHLINE_LOG_LEVEL    silent, error, warn, info or debug (default: warn)",
    "  THROUGHLINE_JWT_SECRET   callers must sign in; THROUGHLINE_JWKS_URL: with your issuer's keys",
    "  THROUGHLINE_HOST         listen on this address; all but loopback need sign-in",
  ].join("\n"),
  { port: { type: "string" } },
);
const port = options.port === undefined ? undefined : Number(options.port);
if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
  refuseOption(`--port takes a number from 1 to 65535, not "${options.port}"`);
}

ensureNode();
console.log(bold("Throughline"));
await runStep(() => ensureInstalled("run"), installedSentence);
await runStep(ensureBuilt, builtSentence);

// Only now is everything there that it may import.
const { readConfig, startServer } = await import("../packages/langgraph-server/dist/index.js");

/** @type {import("../packages/langgraph-server/dist/index.js").RunningServer | undefined} */
let server;
let stopping = false;
for (const [signal, code] of /** @type {const} */ ([
  ["SIGINT", 0],
  ["SIGTERM", 143],
])) {
  process.on(signal, () => leave(code));
}
// npm runs this through a shell that passes no signal on: when whoever started us is gone, so are we.
const startedBy = process.ppid;
setInterval(() => process.ppid === startedBy || leave(143), 1_000).unref();

/** @param {number} code */
async function leave(code) {
  if (stopping) return;
  stopping = true;
  await server?.close();
  process.exit(code);
}

await runStep(
  async () => {
    const config = readConfig({
      THROUGHLINE_LOG_LEVEL: "warn",
      THROUGHLINE_DRAIN_MS: "2000",
      ...process.env,
    });
    const dataDir = config.dataDir ?? join(ROOT, ".throughline", "postgres");
    server = await startServer({ ...config, dataDir, ...(port === undefined ? {} : { port }) });
  },
  () => ({ changed: true, text: "service started" }),
);
if (server) console.log(welcome(server.url, server.agents));

/**
 * @param {string} url
 * @param {readonly string[]} agents
 */
function welcome(url, agents) {
  const base = `${url}/api/copilotkit`;
  const post = (/** @type {string} */ path, /** @type {object} */ body) =>
    `curl -sN ${base}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const thread = { threadId: "rivers" };
  return [
    "",
    `  ${bold(url)}`,
    `  agents: ${agents.map((id) => id.replace("langgraph:", "")).join(", ")}`,
    "",
    "  Try next, in another terminal. Watch a thread, whoever runs it:",
    `    ${post("/agent/poet/connect?follow=true", thread)}`,
    "  Run the agent in it:",
    `    ${post("/agent/poet/run", { ...thread, messages: [{ role: "user", content: "a line about rivers" }] })}`,
    "  Stop it half-way:",
    `    ${post("/agent/poet/stop/rivers", {})}`,
    "",
    dim("  Ctrl-C stops everything."),
  ].join("\n");
}
