import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.js";

export interface RigRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 20_000;

/** A Redis with the settings a server asks for: append-only file on, nothing evicted. Needs `redis-server` on the PATH. */
export async function startRedis(): Promise<RigRedis> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-redis-"));
  const port = await freePort();
  const settings = { port, dir: folder, bind: "127.0.0.1", appendonly: "yes", save: "" };
  const child = spawn(
    "redis-server",
    Object.entries({ ...settings, "maxmemory-policy": "noeviction" }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]),
    { stdio: "ignore" },
  );
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  const killWithUs = () => void child.kill("SIGKILL");
  process.once("exit", killWithUs);
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await answersPing(port))) {
    if (failure || child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error("redis-server did not start. It must be on the PATH.", { cause: failure });
    }
    await pause(20);
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
        child.kill("SIGTERM");
        await gone;
      }
      process.removeListener("exit", killWithUs);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (said) => {
      resolve(said.toString().startsWith("+PONG"));
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
  });
}
