// @ts-check
import { spawn } from "node:child_process";

/** A command that ended badly; `output` is everything it said. */
export class CommandFailed extends Error {
  /**
   * @param {string} message
   * @param {string} output
   */
  constructor(message, output) {
    super(message);
    this.name = "CommandFailed";
    this.output = output;
  }
}

/**
 * What is kept may be shown in a log.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
function withoutColours({ FORCE_COLOR: _, ...env }) {
  return { ...env, NO_COLOR: "1" };
}

/**
 * Runs a command to its end and gives what it printed. With `stream`, its output goes straight to the terminal instead.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string; env?: NodeJS.ProcessEnv; stream?: boolean; timeoutMs?: number; shell?: boolean }} options
 * @returns {Promise<string>}
 */
export function runCommand(
  command,
  args,
  { cwd, env = process.env, stream = false, timeoutMs, shell = false },
) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: stream ? env : withoutColours(env),
      shell,
      stdio: stream ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const keep = (/** @type {Buffer} */ chunk) => {
      output += chunk;
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);

    const shown = [command, ...args].join(" ");
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            child.kill("SIGKILL");
            // A grandchild may hold the pipes open, so `close` might never come.
            child.stdout?.destroy();
            child.stderr?.destroy();
            reject(new CommandFailed(`stopped after ${Math.round(timeoutMs / 1000)} s: ${shown}`, output));
          }, timeoutMs);

    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new CommandFailed(`could not run ${command}: ${error.message}`, output));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(output);
      else reject(new CommandFailed(`ended with ${signal ?? `exit code ${code}`}: ${shown}`, output));
    });
  });
}
