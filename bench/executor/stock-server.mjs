// The official dev server as it ships, used as its documentation says: a thread, then `runs.stream`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@langchain/langgraph-sdk";

const HERE = dirname(fileURLToPath(import.meta.url));
const CLI = resolve(HERE, "../../node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
const READY_TIMEOUT_MS = 60_000;

/** @param {number} workers */
export async function startStockServer(workers) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  const graphs = { typist: `${relative(folder, join(HERE, "typist.mjs"))}:typist` };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ node_version: "20", graphs }));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    process.execPath,
    [
      CLI,
      "dev",
      "--no-browser",
      "--no-reload",
      "--host",
      "127.0.0.1",
      "--port",
      `${port}`,
      "-n",
      `${workers}`,
    ],
    {
      cwd: folder,
      detached: true,
      stdio: "ignore",
      env: { ...process.env, LANGSMITH_TRACING: "false", LANGGRAPH_CLI_NO_ANALYTICS: "1" },
    },
  );
  const kill = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone already.
    }
  };
  process.once("exit", kill);
  for (const deadline = Date.now() + READY_TIMEOUT_MS; ; await pause(100)) {
    if (Date.now() > deadline) {
      kill();
      throw new Error("The LangGraph dev server was not ready in time.");
    }
    const answer = await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (answer?.ok) break;
  }
  const client = new Client({ apiUrl: url, apiKey: null, callerOptions: { maxConcurrency: 1_000 } });
  return {
    url,
    pid: child.pid,
    /** @type {import("./in-process.mjs").Subject} */
    run: (typing) => typeOn(client, typing),
    stop() {
      process.removeListener("exit", kill);
      kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function typeOn(client, typing) {
  const startedAt = performance.now();
  const typed = { firstTokenMs: 0, tokens: 0 };
  const { thread_id: threadId } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "Type" }], ...typing };
  for await (const { event } of client.runs.stream(threadId, "typist", {
    input,
    streamMode: ["messages-tuple"],
  })) {
    if (event !== "messages") continue;
    if (typed.tokens++ === 0) typed.firstTokenMs = performance.now() - startedAt;
  }
  return typed;
}

function freePort() {
  return new Promise((resolvePort) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolvePort(port));
    });
  });
}
