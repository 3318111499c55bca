import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.js";

export interface RigRedis {
  readonly url: string;
  readonly port: number;
  /** A command, with its answer as it came over the wire. */
  ask(...command: string[]): Promise<string>;
  /** SIGKILL. Back when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again, on the same port, empty. Only once it is gone. */
  restart(): Promise<void>;
  /** SIGSTOP: it accepts connections and answers nothing. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 20_000;

/** A Redis that keeps nothing on disk. Needs `redis-server` on the PATH. */
export async function startRedis({ replicaOf }: { readonly replicaOf?: RigRedis } = {}): Promise<RigRedis> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-redis-"));
  const port = await freePort();
  const settings = {
    port,
    dir: folder,
    bind: "127.0.0.1",
    appendonly: "no",
    save: "",
    ...(replicaOf && { replicaof: `127.0.0.1 ${replicaOf.port}` }),
  };

  async function start(): Promise<ChildProcess> {
    const started = spawn(
      "redis-server",
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
      { stdio: "ignore" },
    );
    let failure: Error | undefined;
    started.once("error", (error) => {
      failure = error;
    });
    const killWithUs = () => void started.kill("SIGKILL");
    process.once("exit", killWithUs);
    started.once("exit", () => process.removeListener("exit", killWithUs));
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await answersPing(port))) {
      if (failure || started.exitCode !== null || performance.now() > deadline) {
        started.kill("SIGKILL");
        throw new Error("redis-server did not start. It must be on the PATH.", { cause: failure });
      }
      await pause(20);
    }
    return started;
  }

  let child = await start();

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGCONT");
    child.kill(signal);
    await gone;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    ask: (...command) => askRedis(port, command),
    kill: () => end("SIGKILL"),
    async restart() {
      child = await start();
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answersPing(port: number): Promise<boolean> {
  return (await askRedis(port, ["PING"]).catch(() => "")).startsWith("+PONG");
}

/** The first packet of the answer, which is all of it for answers of a few words. */
function askRedis(port: number, command: readonly string[]): Promise<string> {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`*${parts.length}\r\n${parts.join("")}`));
    socket.once("data", (said) => {
      resolve(said.toString());
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
