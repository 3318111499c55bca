import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { addressOf, reachableUrl } from "./address.js";
import { consolePort } from "./console-port.js";

/** A Node script that serves the console at the address in the variables `HOSTNAME` and `PORT`. */
export interface ConsoleProgram {
  readonly script: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
}

export interface ConsoleOptions {
  /** The service's address, as this machine reaches it. */
  readonly serviceUrl: string;
  /** `account`: people pick a name; `token`: they sign in with a JWT. */
  readonly signIn: "account" | "token";
  readonly host: string;
  /** Absent: 3000 or the next free one. */
  readonly port?: number | undefined;
  /** Called before the console is started again. */
  readonly onTrouble: (sentence: string) => void;
  /** Called when the console ended and a restart did not help. */
  readonly onLost: (sentence: string) => void;
  /** The console that comes with this package where absent. */
  readonly program?: (host: string, port: number) => ConsoleProgram;
}

export interface RunningConsole {
  readonly url: string;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const POLL_MS = 50;
const STOP_MS = 3_000;
/** The length of the last output that an error repeats. */
const TAIL_LENGTH = 2_000;

// The console needs no key of the service's, so it gets none of the environment but these.
const PASSED_ON = [
  "PATH",
  "HOME",
  "LANG",
  "TZ",
  "TMPDIR",
  "TEMP",
  "SystemRoot",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
];

interface ConsoleChild {
  readonly process: ChildProcess;
  /** Resolves to the exit code or the signal, in words. */
  readonly ended: Promise<string>;
  /** The end of its output on stderr, which an error appends. */
  tail(): string;
  wasReady: boolean;
}

/** Runs the console for a service, in a process of its own. One that ends by itself is started once more. */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { host, onLost, onTrouble } = options;
  const port = await consolePort(host, options.port);
  const program = programOf(options, port);
  let isStopping = false;
  let restarts = 0;
  let child = startChild(options, program, port);
  watch(child);
  await untilReady(child, host, port);

  function watch(watched: ConsoleChild): void {
    void watched.ended.then((reason) => {
      if (isStopping || watched !== child || !watched.wasReady) return;
      const sentence = `The console ended (${reason}).${watched.tail()}`;
      if (restarts > 0) return onLost(`${sentence} It was started again before: giving up.`);
      restarts += 1;
      onTrouble(`${sentence} Starting it again.`);
      child = startChild(options, program, port);
      watch(child);
      untilReady(child, host, port).catch((error: Error) => onLost(error.message));
    });
  }

  return {
    url: addressOf(host, port),
    async stop() {
      isStopping = true;
      child.process.kill("SIGTERM");
      const late = setTimeout(() => child.process.kill("SIGKILL"), STOP_MS);
      await child.ended;
      clearTimeout(late);
    },
  };
}

function programOf({ program, host }: ConsoleOptions, port: number): ConsoleProgram {
  if (program) return program(host, port);
  const script = fileURLToPath(new URL("../app/server.js", import.meta.url));
  if (existsSync(script)) return { script };
  throw new Error("This copy of @throughline/console has no pages. In its own repository, use npm start.");
}

function startChild(
  { serviceUrl, signIn, host }: ConsoleOptions,
  { script, args = [], cwd }: ConsoleProgram,
  port: number,
): ConsoleChild {
  const { env, execPath, platform } = process;
  const preload = new URL("../preload/end-with-parent.mjs", import.meta.url).href;
  const child = spawn(execPath, ["--import", preload, script, ...args], {
    ...(cwd !== undefined && { cwd }),
    // Ctrl-C reaches all processes of a terminal's group at once. Outside of the group, the console ends when we stop it.
    detached: platform !== "win32",
    // The IPC channel closes when this process ends, and the console then ends too.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      HOSTNAME: host,
      PORT: String(port),
      THROUGHLINE_URL: serviceUrl,
      THROUGHLINE_CONSOLE_SIGN_IN: signIn,
    },
  });
  let tail = "";
  // Unread, the pipe would fill and stop it.
  child.stdout?.resume();
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = `${tail}${chunk}`.slice(-TAIL_LENGTH);
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    process: child,
    ended,
    tail: () => (tail.trim() === "" ? "" : `\n${tail.trim()}\n`),
    wasReady: false,
  };
}

async function untilReady(child: ConsoleChild, host: string, port: number): Promise<void> {
  let gone: string | undefined;
  void child.ended.then((reason) => {
    gone = reason;
  });
  const page = `${reachableUrl(addressOf(host, port))}/sign-in`;
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    if (gone !== undefined) throw new Error(`The console could not start (${gone}).${child.tail()}`);
    const answer = await fetch(page, { redirect: "manual" }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer && gone === undefined) {
      child.wasReady = true;
      return;
    }
    await pause(POLL_MS);
  }
  child.process.kill("SIGKILL");
  throw new Error(`The console did not answer within ${READY_MS / 1_000} s.${child.tail()}`);
}
