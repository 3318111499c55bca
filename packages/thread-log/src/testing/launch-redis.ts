import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@redis/client";
import { killProcess } from "../../../embedded-postgres/src/testing/kill-process.js";
import { findFreePort } from "../../../embedded-postgres/src/testing/server-parts.js";
import { makeTempFolder } from "../../../embedded-postgres/src/testing/temp-folder.js";
import type { OwnServer } from "./own-postgres.js";

export interface RedisOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** As in `redis.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface OwnRedis extends OwnServer {
  readonly port: number;
  /** SIGSTOP: it accepts connections and answers nothing. */
  pause(): void;
  resume(): void;
  send(...command: string[]): Promise<unknown>;
}

/** What is missing to run a Redis here; `npm test` installs it where it may. */
export function findMissingRedis(): string | undefined {
  return hasRedis() ? undefined : "redis-server (7 or later) is not on the PATH.";
}

/** A Redis of its own, on a port and in a folder of its own, that keeps nothing on disk. */
export async function launchRedis(options: RedisOptions = {}): Promise<OwnRedis> {
  const folder = makeTempFolder();
  const port = options.port ?? (await findFreePort("127.0.0.1"));
  const start = () => startRedis(port, folder.path, options.settings ?? {});
  let child = await start();
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (signal === "SIGKILL") await killProcess(child.pid);
    else child.kill(signal);
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    send: (...command) => askOnce(port, command),
    kill: () => end("SIGKILL"),
    restart: async () => {
      child = await start();
    },
    stop: async () => {
      child.kill("SIGCONT");
      await end("SIGTERM");
      folder.remove();
    },
  };
}

/** Three nodes, each with a third of the slots and no replica. Answers once every node knows all of them. */
export async function launchRedisCluster(): Promise<readonly OwnRedis[]> {
  const settings = { "cluster-enabled": "yes", "cluster-node-timeout": "2000" };
  const nodes = await Promise.all([1, 2, 3].map(() => launchRedis({ settings })));
  const share = Math.ceil(16_384 / nodes.length);
  const [first] = nodes;
  for (const [index, node] of nodes.entries()) {
    const last = Math.min(16_384, (index + 1) * share) - 1;
    await node.send("CLUSTER", "ADDSLOTSRANGE", String(index * share), String(last));
    await node.send("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1));
    if (first && node !== first) await node.send("CLUSTER", "MEET", "127.0.0.1", String(first.port));
  }
  const isWhole = async (node: OwnRedis) => {
    const info = String(await node.send("CLUSTER", "INFO"));
    return /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info);
  };
  for (const node of nodes) while (!(await isWhole(node))) await delay(50);
  return nodes;
}

async function startRedis(
  port: number,
  dir: string,
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const all = { port, dir, bind: "127.0.0.1", appendonly: "no", save: "", ...settings };
  const child = spawn(
    "redis-server",
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]),
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

async function answers(port: number): Promise<boolean> {
  return askOnce(port, ["PING"]).then(
    (answer) => answer === "PONG",
    () => false,
  );
}

async function askOnce(port: number, command: readonly string[]): Promise<unknown> {
  const client = createClient({
    url: `redis://127.0.0.1:${port}`,
    socket: { reconnectStrategy: false, connectTimeout: 1_000 },
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return await client.sendCommand([...command]);
  } finally {
    if (client.isOpen) client.destroy();
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
