// @ts-check
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { createRestartBudget } from "./restart-budget.mjs";
import { root } from "./workspace-packages.mjs";

/**
 * @typedef {import("../packages/cli/dist/index.js").ServerInfo} Serving
 *
 * @typedef {object} ServiceOrder
 * @property {string[]} args of `throughline serve`
 * @property {Record<string, string>} defaults of settings, by variable
 * @property {boolean} hasWelcome whether it prints its usual welcome
 *
 * @typedef {object} ServiceOptions
 * @property {ServiceOrder} order
 * @property {(serving: Serving) => void} onServing called when it serves for the first time
 * @property {(sentence: string) => void} onTrouble called before it is started again, and when it is not any more
 * @property {string} [program] what is run; a test has its own
 *
 * @typedef {object} RunningService
 * @property {Promise<number>} ended resolves to the exit code
 * @property {(signal: NodeJS.Signals) => void} signal passes a signal on
 * @property {() => void} stop
 */

/** What the service exits with after an error that left its state in doubt (`RESTART_EXIT_CODE`). */
const RESTART_EXIT_CODE = 70;
const MAX_RESTARTS = 3;
const PER_MS = 60_000;

/**
 * Runs the service in a process of its own, and starts it again when it asks for that: on the port it had, so that what
 * is connected to it finds it again.
 *
 * @param {ServiceOptions} options
 * @returns {RunningService}
 */
export function runService({
  order,
  onServing,
  onTrouble,
  program = join(root, "scripts", "service-process.mjs"),
}) {
  const budget = createRestartBudget({ max: MAX_RESTARTS, perMs: PER_MS });
  let isStopping = false;
  /** @type {string | undefined} */
  let port;
  let child = start();

  function start() {
    const isFirst = port === undefined;
    const args = port === undefined ? order.args : [...order.args, "--port", port];
    const started = spawn(
      process.execPath,
      [program, JSON.stringify({ ...order, args, hasWelcome: order.hasWelcome && isFirst })],
      {
        // Ctrl-C reaches everything in a terminal's group at once; outside of it, the service gets it from here, once.
        detached: process.platform !== "win32",
        // The channel tells it when we are gone.
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      },
    );
    started.on("message", (message) => {
      const serving = /** @type {Serving} */ (message);
      port = new URL(serving.url).port;
      if (isFirst) onServing(serving);
    });
    return started;
  }

  /** @returns {Promise<number>} */
  async function untilEnded() {
    for (;;) {
      const code = await exitOf(child);
      if (code !== RESTART_EXIT_CODE || isStopping) return code;
      const sentence = `The service ended after an error that left its state in doubt (exit code ${code}).`;
      if (!budget.take()) {
        onTrouble(`${sentence} It was restarted ${MAX_RESTARTS} times within a minute: giving up.`);
        return code;
      }
      onTrouble(`${sentence} Restarting it.`);
      child = start();
    }
  }

  return {
    ended: untilEnded(),
    signal(name) {
      isStopping = true;
      child.kill(name);
    },
    stop() {
      isStopping = true;
      if (child.connected) child.send("stop");
    },
  };
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<number>}
 */
function exitOf(child) {
  return new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (code, signal) => {
      // A process that a signal ended has no code; shells count from 128.
      const number = code ?? 128 + (constants.signals[signal ?? "SIGKILL"] ?? 0);
      // What it told us last may still be on its way.
      if (child.connected) child.once("disconnect", () => resolve(number));
      else resolve(number);
    });
  });
}
