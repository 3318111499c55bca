import { type ChildProcess, spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { buildProgram } from "./build-program.js";
import { freePort } from "./free-port.js";
import type { ServerProcessOptions } from "./server-process-options.js";

export interface RigServerOptions extends Omit<ServerProcessOptions, "graphs"> {
  /** Of `RigPostgres.createDatabase`. Servers that share one are instances of one service. */
  readonly databaseUrl: string;
  readonly redisUrl?: string;
  /** A TypeScript module whose default export is a `GraphSource` or a `GraphProvider`. Default: the demo graphs, unless `env` names a LangGraph server. */
  readonly graphs?: URL;
  /** Settings as in `config.ts`: THROUGHLINE_OFFLINE_PACE_MS, THROUGHLINE_MAX_WATCHERS, LANGGRAPH_DEV_URL… */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RigServer {
  /** Stays the same over restarts. */
  readonly url: string;
  readonly pid: number;
  /** What it wrote to its log so far, over restarts. */
  log(): string;
  /** Of the server's process, after a collection. */
  memory(): Promise<NodeJS.MemoryUsage>;
  /** SIGKILL, as a power cut would. Back when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it holds its sockets and does nothing. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Starts it again, on the same port and database. Only once it is gone. */
  restart(): Promise<void>;
  /** Drains and ends, as on SIGTERM. Does nothing to one that is gone. */
  stop(): Promise<void>;
}

const CATALOG = new URL("../graphs/catalog.ts", import.meta.url);
const PROGRAM = new URL("./server-process.ts", import.meta.url);
const built = new Map<string, Promise<string>>();

/** The real server (`startServer`) as a process of its own, on a free port of loopback with dev sign-in. */
export async function startServer(options: RigServerOptions): Promise<RigServer> {
  const { databaseUrl, redisUrl, graphs: given, env, ...timing } = options;
  const graphs = given ?? (env?.LANGGRAPH_DEV_URL || env?.LANGGRAPH_SERVER_URL ? undefined : CATALOG);
  const program = await buildOnce(PROGRAM);
  const told: ServerProcessOptions = {
    ...timing,
    ...(graphs && { graphs: pathToFileURL(await buildOnce(graphs)).href }),
  };
  const port = await freePort();
  let log = "";
  const settings = {
    PORT: String(port),
    LANGGRAPH_DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl ?? "",
    LITELLM_BASE_URL: "",
    THROUGHLINE_LOG_LEVEL: "warn",
    THROUGHLINE_OFFLINE_PACE_MS: "0",
    THROUGHLINE_DRAIN_MS: "0",
    ...env,
  };

  async function start(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ["--expose-gc", program, JSON.stringify(told)], {
      env: { ...process.env, ...settings },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const killWithUs = () => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("exit", () => process.removeListener("exit", killWithUs));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (said: Buffer) => {
        log += said.toString();
      });
    }
    await new Promise<void>((resolve, reject) => {
      child.once("message", () => resolve());
      child.once("exit", (code, signal) =>
        reject(new Error(`The server ended with ${signal ?? code} before it listened:\n${log}`)),
      );
    });
    return child;
  }

  let child = await start();

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await gone;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? 0;
    },
    log: () => log,
    memory() {
      return new Promise((resolve, reject) => {
        child.once("message", ({ memory }: { memory: NodeJS.MemoryUsage }) => resolve(memory));
        child.send("memory", (error) => error && reject(error));
      });
    },
    kill: () => end("SIGKILL"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async restart() {
      child = await start();
    },
    stop: () => end("SIGTERM"),
  };
}

/** Servers of one test file differ in settings, rarely in programs. */
function buildOnce(source: URL): Promise<string> {
  const known = built.get(source.href) ?? buildProgram(source);
  built.set(source.href, known);
  return known;
}
