import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { filesBelow, fingerprint } from "../../../scripts/fingerprint.mjs";
import { runCommand } from "../../../scripts/run-command.mjs";
import { freePort } from "../../server/rig/free-port.js";

const EXAMPLES = resolve(import.meta.dirname, "../../../examples");
const BUILD_MS = 600_000;

/** An example, built and served from a copy of its folder. */
export interface ServedExample {
  readonly url: string;
  stop(): Promise<void>;
}

/** Below the folder whose `node_modules` has what the example depends on. A build of the same files is used again. */
export async function serveExample(
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<ServedExample> {
  const version = fingerprint(join(EXAMPLES, name), filesBelow(join(EXAMPLES, name), ".")).slice(0, 12);
  const copy = join(folder, `${name}-${version}`);
  const next = join(folder, "node_modules/next/dist/bin/next");
  const own = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", ...env };
  if (!existsSync(join(copy, ".next/BUILD_ID"))) {
    rmSync(copy, { recursive: true, force: true });
    cpSync(join(EXAMPLES, name), copy, { recursive: true });
    await runCommand(process.execPath, [next, "build"], { cwd: copy, env: own, timeoutMs: BUILD_MS });
  }
  const port = await freePort();
  const child = spawn(process.execPath, [next, "start", "--port", String(port)], {
    cwd: copy,
    env: own,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await untilReady(child);
  return {
    url: `http://localhost:${port}`,
    async stop() {
      const gone = new Promise<void>((done) => child.once("exit", () => done()));
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-10_000);
      if (/Ready in/.test(said)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code) => reject(new Error(`The example ended with ${code}:\n${said}`)));
  });
}
