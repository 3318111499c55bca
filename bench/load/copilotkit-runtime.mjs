import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { ensureStock } from "../../scripts/ensure-stock.mjs";
import { agUiRun, readAgUi } from "./subject.mjs";

/**
 * CopilotKit's runtime as it is published, with its in-memory runner. Who comes back is shown everything again: its
 * `connect` takes no cursor.
 *
 * @returns {Promise<import("./subject.mjs").Subject>}
 */
export async function startCopilotKit() {
  const folder = await ensureStock("copilotkit");
  const program = join(folder, "load-program.mjs");
  cpSync(join(import.meta.dirname, "copilotkit-program.mjs"), program);
  const child = fork(program, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const gone = once(child, "exit");
  const port = await Promise.race([
    once(child, "message").then(([said]) => said.port),
    gone.then(() => Promise.reject(new Error("CopilotKit's runtime ended before it listened."))),
  ]);
  const url = `http://127.0.0.1:${port}`;
  return {
    name: "copilotkit",
    startsAnew: true,
    createRun: async (typing) => agUiRun({ start: url, view: url }, "typist", typing),
    read: readAgUi,
    pids: { service: [child.pid], postgres: [] },
    eventLoopLagMs: async () => undefined,
    async stop() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
