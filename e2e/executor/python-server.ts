import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const VENV = join(HERE, "../node_modules/.cache/python-langgraph");
const COMMAND = join(VENV, "bin/langgraph");
const REQUIREMENTS = [
  "langgraph-cli[inmem]==0.4.40",
  "langgraph-api==0.16.7",
  "langgraph-runtime-inmem==0.36.7",
  "langgraph==1.2.20",
];
const INSTALL_TIMEOUT_MS = 300_000;
const READY_TIMEOUT_MS = 60_000;

const run = promisify(execFile);

/** Python's dev server, installed once; `false` where there is no Python 3.11, or PyPI is out of reach. */
export async function installPythonServer(): Promise<boolean> {
  if (existsSync(COMMAND)) return true;
  try {
    await run("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]);
    await run("python3", ["-m", "venv", VENV]);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    await run(join(VENV, "bin/python"), [...install, ...REQUIREMENTS], { timeout: INSTALL_TIMEOUT_MS });
    return true;
  } catch {
    rmSync(VENV, { recursive: true, force: true });
    return false;
  }
}

export interface PythonServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPythonServer(): Promise<PythonServer> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-python-"));
  cpSync(join(HERE, "python"), folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", String(port)];
  const child = spawn(COMMAND, [...args, "--n-jobs-per-worker", "10"], {
    cwd: folder,
    detached: true,
    stdio: "ignore",
    env: { ...process.env, LANGSMITH_TRACING: "false", LANGGRAPH_CLI_NO_ANALYTICS: "1" },
  });
  const end = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It is gone already.
    }
  };
  process.once("exit", () => end("SIGKILL"));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await pause(100)) {
    const answer = await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (!answer?.ok) continue;
    return {
      url,
      async stop() {
        end("SIGKILL");
        await exited;
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  end("SIGKILL");
  throw new Error(`Python's LangGraph server was not ready after ${READY_TIMEOUT_MS / 1000} s.`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("No port.")),
      );
    });
  });
}
