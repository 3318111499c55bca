import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");

/**
 * Puts built packages of ours among published ones, as an install would: copied, so that they find the published ones, with
 * what they depend on as the workspace has it.
 */
export function placePackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const source = join(ROOT, "packages", name);
    const target = join(folder, "node_modules/@throughline", name);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    for (const part of ["dist", "package.json"])
      cpSync(join(source, part), join(target, part), { recursive: true });
    symlinkSync(join(source, "node_modules"), join(target, "node_modules"));
  }
}
