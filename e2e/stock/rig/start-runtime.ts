import { type ChildProcess, fork } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { ensureStock } from "../../../scripts/ensure-stock.mjs";
import { placePackages } from "./place-packages.js";

/** A process with CopilotKit's own runtime and our runner. */
export interface RuntimeProcess {
  readonly url: string;
  /** As a crash would: nothing is said, nothing is closed. */
  kill(): Promise<void>;
}

export interface RuntimeOptions {
  readonly databaseUrl: string;
  readonly leaseMs?: number;
  readonly cursors?: boolean;
}

/** CopilotKit as it is published, with our packages beside it. */
export async function stockFolder(): Promise<string> {
  const folder = await ensureStock("copilotkit");
  placePackages(folder, ["copilotkit-runner", "client-compatibility"]);
  cpSync(join(import.meta.dirname, "../programs"), join(folder, "programs"), { recursive: true });
  return folder;
}

export async function startRuntime(folder: string, options: RuntimeOptions): Promise<RuntimeProcess> {
  const { databaseUrl, leaseMs = 15_000, cursors = false } = options;
  const child = fork(join(folder, "programs/runtime.mjs"), [databaseUrl, String(leaseMs)], {
    env: { ...process.env, CURSORS: cursors ? "yes" : "no" },
  });
  const gone = exitOf(child);
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (said: { port: number }) => resolve(said.port));
    void gone.then(() => reject(new Error("The runtime ended before it listened.")));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
