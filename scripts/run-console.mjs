// @ts-check
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { root } from "./workspace-packages.mjs";

/**
 * @typedef {object} ConsoleOptions
 * @property {string} serviceUrl as this machine reaches it
 * @property {"account" | "token"} signIn
 * @property {string} host
 * @property {number} port a free one
 * @property {(sentence: string) => void} onTrouble told before it is started again
 * @property {(sentence: string) => void} onLost it ended, and starting it again did not help
 *
 * @typedef {object} RunningConsole
 * @property {string} url
 * @property {() => Promise<void>} stop
 */

const READY_MS = 60_000;
const LOOK_EVERY_MS = 50;
/** It holds nothing that takes longer to put away. */
const STOP_MS = 3_000;
/** So much of what it said last is worth reading. */
const LAST_WORDS = 2_000;

// It needs no key of anybody's, so it gets none.
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

/**
 * Runs the built console beside the service. One that ends by itself is started once more.
 *
 * @param {ConsoleOptions} options
 * @returns {Promise<RunningConsole>}
 */
export async function runConsole(options) {
  const url = addressOf(options.host, options.port);
  let isStopping = false;
  let restarts = 0;
  let child = startChild(options);
  watch(child);
  await untilReady(child, options);

  /** @param {ConsoleChild} watched */
  function watch(watched) {
    void watched.ended.then((reason) => {
      if (isStopping || watched !== child || !watched.wasReady) return;
      const sentence = `The console ended (${reason}).${watched.lastWords()}`;
      if (restarts > 0) return options.onLost(`${sentence} It was started again before: giving up.`);
      restarts += 1;
      options.onTrouble(`${sentence} Starting it again.`);
      child = startChild(options);
      watch(child);
      untilReady(child, options).catch((error) => options.onLost(error.message));
    });
  }

  return {
    url,
    async stop() {
      isStopping = true;
      child.process.kill("SIGTERM");
      const late = setTimeout(() => child.process.kill("SIGKILL"), STOP_MS);
      await child.ended;
      clearTimeout(late);
    },
  };
}

/** @typedef {ReturnType<typeof startChild>} ConsoleChild */

/** @param {ConsoleOptions} options */
function startChild({ serviceUrl, signIn, host, port }) {
  const folder = join(root, "apps", "web");
  const next = join(folder, "node_modules", "next", "dist", "bin", "next");
  const preload = pathToFileURL(join(root, "scripts", "end-with-parent.mjs")).href;
  const child = spawn(
    process.execPath,
    ["--import", preload, next, "start", "--port", String(port), "--hostname", host],
    {
      cwd: folder,
      // Ctrl-C reaches everything in a terminal's group at once: outside of it, the console ends when we say so.
      detached: process.platform !== "win32",
      // The channel is what tells it that we are gone.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: {
        ...Object.fromEntries(
          PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
        ),
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
        THROUGHLINE_URL: serviceUrl,
        THROUGHLINE_CONSOLE_SIGN_IN: signIn,
      },
    },
  );
  let said = "";
  // What it says at each start is of no use to anybody; unread, the pipe would fill and stop it.
  child.stdout?.resume();
  child.stderr?.on("data", (/** @type {Buffer} */ chunk) => {
    said = `${said}${chunk}`.slice(-LAST_WORDS);
  });
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    process: child,
    ended,
    wasReady: false,
    lastWords: () => (said.trim() === "" ? "" : `\n${said.trim()}\n`),
  };
}

/**
 * @param {ConsoleChild} child
 * @param {ConsoleOptions} options
 */
async function untilReady(child, { host, port }) {
  /** @type {string | undefined} */
  let gone;
  void child.ended.then((reason) => {
    gone = reason;
  });
  const page = `${addressOf(reachableHost(host), port)}/sign-in`;
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    if (gone !== undefined) throw new Error(`The console could not start (${gone}).${child.lastWords()}`);
    const answer = await fetch(page, { redirect: "manual" }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer && gone === undefined) {
      child.wasReady = true;
      return;
    }
    await pause(LOOK_EVERY_MS);
  }
  child.process.kill("SIGKILL");
  throw new Error(`The console did not answer within ${READY_MS / 1_000} s.${child.lastWords()}`);
}

/**
 * An address that this machine reaches: what listens everywhere listens here too.
 *
 * @param {string} host
 */
export function reachableHost(host) {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/**
 * @param {string} host
 * @param {number} port
 */
export function addressOf(host, port) {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
