import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/**
 * A client in a process of its own: none sweeps up another's garbage, or runs code that the engine shaped for another. What
 * stock clients check and freeze for a developer only is off.
 *
 * @param {string} name
 */
export function startClient(name) {
  const child = fork(join(import.meta.dirname, "client-process.mjs"), [name], {
    env: { ...process.env, NODE_ENV: "production" },
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = once(child, "exit").then(([code]) => [
    { error: `The process of ${name} ended with ${code}.` },
  ]);
  return {
    /** Microseconds per event, measured for `ms` of CPU at least. One question at a time. */
    async measure(label, ms) {
      child.send({ label, ms });
      const [{ cost, error }] = await Promise.race([once(child, "message"), gone]);
      if (error) throw new Error(error);
      return cost;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}
