import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const CLI = join(ROOT, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
const OWN_PROJECT = new URL("./graphs/langgraph.json", import.meta.url);
const HOST = "127.0.0.1";
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

export interface UpstreamServerOptions {
  /** The project to serve; this suite's own graphs unless told otherwise. */
  readonly project?: URL;
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** An official dev server with a project's graphs, which can be killed and come back with what it had stored. */
export interface UpstreamServer {
  readonly url: string;
  /** As a power cut would: every process of it, at once. */
  kill(): Promise<void>;
  /** On the same port and with the same folder. */
  restart(): Promise<void>;
  /** As a deployment would: it writes down what it has, runs that are on their way as running. */
  shutDown(): Promise<void>;
  stop(): Promise<void>;
}

export async function startUpstreamServer(options: UpstreamServerOptions = {}): Promise<UpstreamServer> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-upstream-"));
  writeProject(folder, fileURLToPath(options.project ?? OWN_PROJECT));
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const args = ["dev", "--no-browser", "--no-reload", "--host", HOST, "--port", String(port)];
    const started = spawn(process.execPath, [CLI, ...args, "-n", String(options.workers ?? 20)], {
      cwd: folder,
      // A process group of its own, so that one signal reaches the CLI, its loader and the server.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        LANGSMITH_TRACING: "false",
        LANGGRAPH_CLI_NO_ANALYTICS: "1",
        LITELLM_BASE_URL: "",
        THROUGHLINE_OFFLINE_PACE_MS: "0",
        ...options.env,
      },
    });
    process.once("exit", () => signal(started, "SIGKILL"));
    let said = "";
    for (const stream of [started.stdout, started.stderr]) {
      stream.on("data", (bytes: Buffer) => {
        said = (said + bytes.toString()).slice(-2_000);
      });
    }
    for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await pause(100)) {
      if (started.exitCode !== null)
        throw new Error(`The LangGraph dev server ended before it was ready:\n${said}`);
      const answer = await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      if (answer?.ok) return started;
    }
    signal(started, "SIGKILL");
    throw new Error(`The LangGraph dev server was not ready after ${READY_TIMEOUT_MS / 1000} s.`);
  }

  async function gone(within: number): Promise<void> {
    for (const deadline = Date.now() + within; signal(child, 0) && Date.now() < deadline; ) await pause(20);
  }

  async function shutDown(): Promise<void> {
    signal(child, "SIGTERM");
    await gone(STOP_TIMEOUT_MS);
    signal(child, "SIGKILL");
  }

  return {
    url,
    async kill() {
      signal(child, "SIGKILL");
      await gone(STOP_TIMEOUT_MS);
    },
    async restart() {
      child = await start();
    },
    shutDown,
    async stop() {
      await shutDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server keeps its state beside its config, so every server gets a folder of its own that points at the graphs. */
function writeProject(folder: string, source: string): void {
  const project: { graphs: Record<string, string | { path: string }> } = JSON.parse(
    readFileSync(source, "utf8"),
  );
  const graphs = Object.entries(project.graphs).map(([name, spec]) => [
    name,
    relative(folder, resolve(dirname(source), typeof spec === "string" ? spec : spec.path)),
  ]);
  writeFileSync(
    join(folder, "langgraph.json"),
    JSON.stringify({ ...project, graphs: Object.fromEntries(graphs) }),
  );
}

/** True when a process was there to receive it; signal 0 only asks. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const probe = createServer();
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address ? resolvePort(address.port) : reject(new Error("No port.")),
      );
    });
  });
}
