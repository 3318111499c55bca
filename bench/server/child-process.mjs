import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/**
 * A program of this folder as a process of its own, so that clients never share a core's time with what they measure, and
 * its CPU and memory are its own. `ask` sends it a question and resolves with what it answers.
 *
 * @param {string} program
 * @param {Record<string, string>} env
 */
export async function startChild(program, env) {
  const child = fork(join(import.meta.dirname, program), {
    execArgv: ["--expose-gc"],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const waiting = new Map();
  let failure;
  child.on("message", ({ id, error, answer }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(error));
  });
  child.once("exit", (code) => {
    failure = new Error(`${program} ended with ${code}.`);
    for (const { reject } of waiting.values()) reject(failure);
  });
  let asked = 0;
  function ask(what, about) {
    return new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      const id = asked++;
      waiting.set(id, { resolve, reject });
      child.send({ id, what, about });
    });
  }
  const url = await ask("url");
  return {
    url,
    ask,
    async stop() {
      process.removeListener("exit", kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      kill();
      await gone;
    },
  };
}
