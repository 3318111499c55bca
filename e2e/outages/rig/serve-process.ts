import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../../packages/cli/bin/throughline.mjs", import.meta.url));
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;
const patience = { timeout: 60_000, interval: 50 };

/** `throughline serve` as a process of its own. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** All that it has written so far. */
  printed(): string;
}

/** Resolves when it says where it listens. */
export async function startServeProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text: Buffer) => {
      printed += text.toString();
    });
  }
  try {
    await vi.waitFor(() => {
      if (child.exitCode === null) expect(printed).toMatch(ADDRESS);
    }, patience);
    if (child.exitCode !== null)
      throw new Error(`throughline serve ended with ${child.exitCode}:\n${printed}`);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return { child, url: ADDRESS.exec(printed)?.[0] ?? "", printed: () => printed };
}
