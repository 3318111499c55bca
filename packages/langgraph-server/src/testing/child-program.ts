import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";

export interface ChildProgram {
  start(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    options?: { readonly stdout?: "inherit" | "pipe" },
  ): ChildProcess;
  remove(): void;
}

const PACKAGE = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Node does not run TypeScript, so what a test starts as a process of its own is built first, beside our dependencies. */
export async function buildChildProgram(source: URL): Promise<ChildProgram> {
  const cache = join(PACKAGE, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, "child-"));
  await build({
    entry: { program: fileURLToPath(source) },
    cwd: PACKAGE,
    outDir,
    config: false,
    format: "esm",
    platform: "node",
    target: "node20",
    fixedExtension: true,
    dts: false,
    clean: false,
    logLevel: "error",
  });
  return {
    start: (args, env, { stdout = "inherit" } = {}) =>
      fork(join(outDir, "program.mjs"), [...args], {
        env: { ...process.env, ...env },
        stdio: ["ignore", stdout, "inherit", "ipc"],
      }),
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}

/** How the child ended: the signal that killed it, or its exit code. */
export function untilExit(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((done) => child.once("exit", (code, signal) => done(signal ?? code)));
}
