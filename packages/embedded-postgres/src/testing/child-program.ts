import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";

export interface ChildProgram {
  /** `through`: the command and its options that it is started by. */
  start(args: readonly string[], through?: readonly [string, ...string[]]): ChildProcess;
  remove(): void;
}

const PACKAGE = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Their modules by the hundred are what a process of a few hundred milliseconds would spend its life on. */
const BUNDLED = /^(@throughline\/|zod|pg|redis|@redis\/)/;

/** Node does not run TypeScript, so a program that a test starts as a process of its own is built first. */
export async function buildChildProgram(source: URL): Promise<ChildProgram> {
  // Inside the package, so that it finds the same dependencies.
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
    deps: { alwaysBundle: BUNDLED, onlyBundle: false },
  });
  return {
    start(args, [command, ...options] = [process.execPath]) {
      const program = command === process.execPath ? [] : [process.execPath];
      return spawn(command, [...options, ...program, join(outDir, "program.mjs"), ...args], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
    },
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}

export function untilExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
