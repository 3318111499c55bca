import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TARBALL = /^throughline-(.+)-\d+\.\d+\.\d+\.tgz$/;

let packed: Readonly<Record<string, string>> | undefined;

/** Our packages by name, each as the address of its tarball. Packed once for all tests of a process. */
export function packPackages(): Readonly<Record<string, string>> {
  packed ??= pack();
  return packed;
}

function pack(): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-pack-"));
  const args = ["--recursive", "--filter=./packages/*", "pack", "--pack-destination", folder];
  const done = spawnSync("npx", ["--yes", packageManager(), ...args], { cwd: ROOT, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`The packages can't be packed:\n${done.stdout}${done.stderr}`);
  return Object.fromEntries(
    readdirSync(folder).flatMap((file) => {
      const name = TARBALL.exec(file)?.[1];
      return name === undefined ? [] : [[`@throughline/${name}`, `file:${join(folder, file)}`]];
    }),
  );
}

/** As the workspace names it: `pnpm@` and its version. */
export function packageManager(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return z.object({ packageManager: z.string() }).parse(manifest).packageManager;
}
