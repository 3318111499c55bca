import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";

/** `undefined` where there is none to be started. */
export async function launchRedis(dir) {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  mkdirSync(dir);
  const port = await freePort();
  const settings = { port, dir, bind: "127.0.0.1", appendonly: "no", save: "" };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn("redis-server", options, { stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const url = `redis://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error("redis-server did not start.");
    await delay(10);
  }
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

async function answers(url) {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
