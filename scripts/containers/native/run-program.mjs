// @ts-check
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const READY_MS = 180_000;
const STOP_MS = 15_000;

/**
 * Runs a server until it is stopped; resolves when its port takes connections.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ readyPort: number; cwd?: string; env?: NodeJS.ProcessEnv }} options
 */
export async function runProgram(program, args, { readyPort, cwd, env = process.env }) {
  const child = spawn(program, args, { env, stdio: ["ignore", "inherit", "inherit"], ...(cwd && { cwd }) });
  let isGone = false;
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  void ended.then(() => {
    isGone = true;
  });
  for (const deadline = performance.now() + READY_MS; !(await accepts(readyPort)); await pause(200)) {
    if (isGone) throw new Error(`${program} did not start: ${await ended}`);
    if (performance.now() > deadline) throw new Error(`${program} did not listen on port ${readyPort}.`);
  }
  return {
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.destroy());
    socket.once("error", () => resolve(false));
    socket.once("close", (hadError) => resolve(!hadError));
  });
}
