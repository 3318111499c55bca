// @ts-check
import { readOptions, refuseOption } from "./read-options.mjs";
import { bold, builtSentence, dim, installedSentence, runStep } from "./steps.mjs";
import { ensureBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const options = readOptions(
  [
    "npm start [-- --port N]",
    "",
    "Installs what is missing, builds what changed and starts the agents. Needs no key: without one, an offline model",
    "answers. Ctrl-C stops everything.",
    "",
    "  --port N  listen on this port (default: 2024, or the next free one)",
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
const { startLanggraphDev } = await import("./langgraph-dev.mjs");

/** @type {{ url: string; stop: () => Promise<void>; exited: Promise<unknown> } | undefined} */
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
  await server?.stop();
  process.exit(code);
}

await runStep(
  async () => {
    server = await startLanggraphDev({ quiet: true, ...(port === undefined ? {} : { port }) });
  },
  () => ({ changed: true, text: "agents started" }),
);
if (server) {
  console.log(welcome(server.url, await agentNames(server.url)));
  await server.exited;
  if (!stopping) {
    console.error("The agents' server ended by itself.");
    process.exit(1);
  }
}

/**
 * @param {string} url
 * @returns {Promise<string[]>}
 */
async function agentNames(url) {
  const response = await fetch(`${url}/assistants/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ limit: 100 }),
  });
  const assistants = /** @type {{ graph_id: string }[]} */ (await response.json());
  return [...new Set(assistants.map(({ graph_id }) => graph_id))].sort();
}

/**
 * @param {string} url
 * @param {readonly string[]} agents
 */
function welcome(url, agents) {
  const body = JSON.stringify({
    assistant_id: "poet",
    input: { messages: [{ role: "user", content: "a line about rivers" }] },
    stream_mode: "messages-tuple",
  });
  return [
    "",
    `  ${bold(url)}`,
    `  agents: ${agents.join(", ")}`,
    "",
    "  Try next, in another terminal:",
    "    npm run graph -- travel",
    `    curl -sN ${url}/runs/stream -H 'content-type: application/json' -d '${body}'`,
    "",
    dim("  Ctrl-C stops everything."),
  ].join("\n");
}
