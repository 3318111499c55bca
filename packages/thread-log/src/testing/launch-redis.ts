import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { findFreePort } from "../embedded/find-free-port.js";
import { killProcess } from "./kill-process.js";
import type { OwnServer } from "./own-postgres.js";
import { makeTempFolder } from "./temp-folder.js";

export interface RedisOptions {
  /** When a write is on disk: before it is acknowledged, or within a second of it. */
  readonly appendfsync: "always" | "everysec";
}

export interface OwnRedis extends OwnServer {
  /** Bytes of the append-only file: what is cut off its end is what a power cut would have taken. */
  fileSize(): number;
  /** Only while it does not run. */
  truncateFile(bytes: number): void;
}

/** What is missing to run a Redis here; `npm test` installs it where it may. */
export function findMissingRedis(): string | undefined {
  return hasRedis() ? undefined : "redis-server (7 or later) is not on the PATH.";
}

/** A Redis of its own: free port, own folder, append-only file on, nothing evicted. */
export async function launchRedis(options: RedisOptions = { appendfsync: "everysec" }): Promise<OwnRedis> {
  const folder = makeTempFolder();
  const port = await findFreePort("127.0.0.1");
  const url = `redis://127.0.0.1:${port}`;
  const file = join(folder.path, "appendonlydir", "appendonly.aof.1.incr.aof");
  let child = await startRedis(port, folder.path, options);
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (signal === "SIGKILL") await killProcess(child.pid);
    else child.kill(signal);
    await gone;
  };
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    kill: () => end("SIGKILL"),
    restart: async () => {
      child = await startRedis(port, folder.path, options);
    },
    fileSize: () => statSync(file).size,
    truncateFile: (bytes) => truncateSync(file, bytes),
    stop: async () => {
      await end("SIGTERM");
      folder.remove();
    },
  };
}

async function startRedis(port: number, dir: string, { appendfsync }: RedisOptions): Promise<ChildProcess> {
  const settings = {
    port,
    dir,
    bind: "127.0.0.1",
    appendonly: "yes",
    appendfsync,
    save: "",
    "maxmemory-policy": "noeviction",
  };
  const child = spawn(
    "redis-server",
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: "ignore" },
  );
  // A test that times out never comes to its own end.
  const killWithUs = () => void child.kill("SIGKILL");
  process.once("exit", killWithUs);
  child.once("exit", () => process.removeListener("exit", killWithUs));
  const deadline = performance.now() + 20_000;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`redis-server did not start on port ${port}.`);
    }
    await delay(10);
  }
  return child;
}

/** A Redis that still loads its append-only file refuses commands. */
async function answers(port: number): Promise<boolean> {
  const client = createClient({
    url: `redis://127.0.0.1:${port}`,
    socket: { reconnectStrategy: false, connectTimeout: 1_000 },
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

function hasRedis(): boolean {
  try {
    const said = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
    return Number(/v=(\d+)/.exec(said)?.[1]) >= 7;
  } catch {
    return false;
  }
}
