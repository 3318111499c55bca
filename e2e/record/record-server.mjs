// The official dev server with the repository's graphs and the recorder's own. `scripts/langgraph-dev.mjs` serves the
// catalogue alone, and shapes that no catalogue graph has (twin interrupts, deep nesting) must be recorded too.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../..");
const CATALOGUE = join(ROOT, "packages/langgraph-graphs");
const CLI = join(ROOT, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
const HOST = "127.0.0.1";
const READY_TIMEOUT_MS = 60_000;

const OWN_GRAPHS = {
  "several-interrupts": "several-interrupts.ts:graph",
  "nested-subgraphs": "nested-subgraphs.ts:graph",
  "parallel-nodes": "parallel-nodes.ts:graph",
};

/**
 * @param {{ log?: boolean }} [options]
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startRecordServer({ log = false } = {}) {
  const folder = join(HERE, "../node_modules/.cache/record-server");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "langgraph.json"),
    JSON.stringify({ node_version: "20", graphs: graphsFrom(folder) }),
  );
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const child = spawn(
    process.execPath,
    [CLI, "dev", "--no-browser", "--no-reload", "--host", HOST, "--port", String(port), "-n", "4"],
    {
      cwd: folder,
      // A process group of its own, so that one signal reaches the CLI, its loader and the server.
      detached: true,
      stdio: ["ignore", log ? "inherit" : "ignore", log ? "inherit" : "ignore"],
      env: {
        ...process.env,
        LANGSMITH_TRACING: "false",
        LANGGRAPH_CLI_NO_ANALYTICS: "1",
        // A key or a proxy in the environment would turn the recording into a conversation with a real model.
        LITELLM_BASE_URL: "",
        THROUGHLINE_OFFLINE_PACE_MS: "8",
      },
    },
  );
  let gone = false;
  child.once("exit", () => {
    gone = true;
  });
  const signal = (name) => {
    try {
      return process.kill(-child.pid, name);
    } catch {
      return false;
    }
  };
  const killNow = () => signal("SIGKILL");
  process.once("exit", killNow);
  const stop = async () => {
    signal("SIGTERM");
    for (let waited = 0; signal(0) && waited < 5_000; waited += 20) await pause(20);
    killNow();
    process.removeListener("exit", killNow);
  };
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await pause(100)) {
    if (gone) throw new Error("The LangGraph dev server ended before it was ready: run again with --log.");
    const answer = await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (answer?.ok) return { url, stop };
  }
  await stop();
  throw new Error(`The LangGraph dev server was not ready after ${READY_TIMEOUT_MS / 1000} s.`);
}

function graphsFrom(folder) {
  const catalogue = JSON.parse(readFileSync(join(CATALOGUE, "langgraph.json"), "utf8")).graphs;
  const at =
    (base) =>
    ([name, spec]) => [name, relative(folder, resolve(base, spec))];
  return Object.fromEntries([
    ...Object.entries(catalogue).map(at(CATALOGUE)),
    ...Object.entries(OWN_GRAPHS).map(at(join(HERE, "graphs"))),
  ]);
}

function freePort() {
  return new Promise((resolvePort) => {
    const probe = createServer();
    probe.listen(0, HOST, () => {
      const { port } = probe.address();
      probe.close(() => resolvePort(port));
    });
  });
}
