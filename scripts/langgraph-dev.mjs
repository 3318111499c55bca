// Starts the official LangGraph dev server with this repository's graphs, and takes all of its processes down with it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ensureReady } from "./workspace.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PROJECT = join(ROOT, "packages", "langgraph-graphs");
const CLI = join(ROOT, "node_modules", "@langchain", "langgraph-cli", "dist", "cli", "cli.mjs");
const HOST = "127.0.0.1";
const DEFAULT_PORT = 2024;
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

const HELP = `Runs the seven graphs on the official LangGraph dev server.

  npm run langgraph:dev                 port ${DEFAULT_PORT}, or the next free one
  npm run langgraph:dev -- --port 3030  this port or none

Options
  --port N   port to listen on; fails when it is taken
  --quiet    leave out the server's own log
  --help     this text

Set LITELLM_BASE_URL and LITELLM_API_KEY for a real model; without them the offline model answers.
`;

/** @type {typeof import("./langgraph-dev.d.mts").startLanggraphDev} */
export async function startLanggraphDev({
  port,
  quiet = false,
  reload = false,
  cwd = PROJECT,
  graphs = {},
  workers = 20,
  env = {},
} = {}) {
  if (!existsSync(CLI)) throw new Error("The LangGraph CLI is not installed: npm run build installs it.");
  // Chosen before the start: on a taken port the CLI leaves its worker processes behind.
  const chosen = await choosePort(port);
  const url = `http://${HOST}:${chosen}`;
  const args = ["dev", "--no-browser", "--host", HOST, "--port", String(chosen), "-n", String(workers)];
  if (!reload) args.push("--no-reload");
  const child = spawn(process.execPath, [CLI, ...args, "--config", configIn(cwd, graphs)], {
    cwd,
    // A process group of its own, so that one signal reaches the CLI, its loader and the server.
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LANGSMITH_TRACING: "false", LANGGRAPH_CLI_NO_ANALYTICS: "1", ...env },
  });
  const lastLines = keepLastLines(child, quiet);
  const exited = new Promise((resolveExit) => {
    child.once("error", () => resolveExit(null));
    child.once("exit", (code) => resolveExit(code));
  });
  const killNow = () => signalTree(child, "SIGKILL");
  process.once("exit", killNow);

  const stop = async () => {
    signalTree(child, "SIGTERM");
    // The CLI is gone at once, while the server below it still writes its threads to disk.
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (signalTree(child, 0) && Date.now() < deadline) await pause(20);
    killNow();
    process.removeListener("exit", killNow);
    await exited;
  };

  try {
    await ready(url, exited);
  } catch (error) {
    await stop();
    throw new Error(`${error.message}\n${lastLines()}`.trim());
  }
  return { url, pid: child.pid, stop, exited };
}

/** The server keeps its state beside its config, so another folder needs a config of its own. */
function configIn(cwd, moreGraphs) {
  const original = join(PROJECT, "langgraph.json");
  if (resolve(cwd) === PROJECT) return original;
  const document = JSON.parse(readFileSync(original, "utf8"));
  const graphs = Object.entries({ ...document.graphs, ...moreGraphs }).map(([name, spec]) => [
    name,
    relative(cwd, resolve(PROJECT, typeof spec === "string" ? spec : spec.path)).replaceAll("\\", "/"),
  ]);
  mkdirSync(cwd, { recursive: true });
  const config = join(cwd, "langgraph.json");
  writeFileSync(config, JSON.stringify({ ...document, graphs: Object.fromEntries(graphs) }));
  return config;
}

async function choosePort(wanted) {
  if (wanted !== undefined) {
    const free = await bind(wanted);
    if (free === undefined) throw new Error(`Port ${wanted} is taken: choose another with --port.`);
    return free;
  }
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + 100; port++) {
    const free = await bind(port);
    if (free !== undefined) return free;
  }
  throw new Error(`No free port from ${DEFAULT_PORT} to ${DEFAULT_PORT + 99}.`);
}

function bind(port) {
  return new Promise((resolveBind) => {
    const probe = createServer();
    probe.once("error", () => resolveBind(undefined));
    probe.listen(port, HOST, () => {
      const address = probe.address();
      probe.close(() => resolveBind(address.port));
    });
  });
}

async function ready(url, exited) {
  let gone = false;
  exited.then(() => {
    gone = true;
  });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (gone) throw new Error("The LangGraph dev server ended before it was ready.");
    const answered = await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (answered?.ok) return;
    await pause(100);
  }
  throw new Error(`The LangGraph dev server was not ready after ${READY_TIMEOUT_MS / 1000} s.`);
}

/** True when a process was there to receive it; signal 0 only asks. */
function signalTree(child, signal) {
  if (child.pid === undefined) return false;
  try {
    if (process.platform !== "win32") return process.kill(-child.pid, signal);
    if (signal === 0) return child.exitCode === null && child.signalCode === null;
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"]);
    return true;
  } catch {
    return false;
  }
}

function keepLastLines(child, quiet) {
  let kept = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      if (!quiet) process.stderr.write(chunk);
      kept = (kept + chunk).slice(-2_000);
    });
  }
  return () => kept.split("\n").slice(-15).join("\n");
}

async function main() {
  const { values } = parseArgs({
    options: { port: { type: "string" }, quiet: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new Error(`--port takes a number from 0 to 65535, not "${values.port}".`);
  }
  await ensureReady();
  let server;
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
      stopping = true;
      // Before it is ready there is nothing to flush; leaving takes the tree down.
      if (server === undefined) process.exit(130);
      void server.stop();
    });
  }
  server = await startLanggraphDev({ port, quiet: values.quiet ?? false, reload: true });
  const { graphs } = JSON.parse(readFileSync(join(PROJECT, "langgraph.json"), "utf8"));
  process.stdout.write(`
LangGraph dev server: ${server.url}
Graphs: ${Object.keys(graphs).join(", ")}

Try one:
  curl -sN ${server.url}/runs/stream -H 'content-type: application/json' \\
    -d '{"assistant_id":"chat","input":{"messages":[{"role":"user","content":"What is 2 + 3 * 4?"}]},"stream_mode":["messages-tuple"]}'

Ctrl-C stops it.
`);
  const code = await server.exited;
  process.exitCode = stopping ? 0 : (code ?? 1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  main().catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  });
}
