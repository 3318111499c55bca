import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { packageManager, packPackages } from "./pack-packages.js";

const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

const manifestSchema = z.looseObject({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  overrides: z.record(z.string(), z.string()).default({}),
});

/** An example in a folder of its own, with what its manifest names. */
export interface InstalledExample {
  readonly folder: string;
  readonly scripts: Readonly<Record<string, string>>;
  remove(): void;
}

export function installExample(name: string): InstalledExample {
  const folder = mkdtempSync(join(tmpdir(), `throughline-${name}-`));
  cpSync(join(EXAMPLES, name), folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|\.next)(\/|$)/.test(path),
  });
  const file = join(folder, "package.json");
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  writeFileSync(file, JSON.stringify(fromTarballs(manifest), null, 2));
  // Packages that the workspace has too are linked, not fetched.
  const args = ["install", "--prefer-offline", "--ignore-workspace"];
  const installed = spawnSync("npx", ["--yes", packageManager(), ...args], { cwd: folder, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`${name} can't be installed:\n${installed.stdout}`);
  return {
    folder,
    scripts: manifest.scripts,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}

/** Until they are published, packages of ours come from tarballs, wherever one is asked for. */
function fromTarballs(manifest: z.infer<typeof manifestSchema>): object {
  const pnpm = { onlyBuiltDependencies: ["esbuild"] };
  const isOurs = (name: string) => name.startsWith("@throughline/");
  if (!Object.keys(manifest.dependencies).some(isOurs)) return { ...manifest, pnpm };
  const tarballs = packPackages();
  const overrides = { ...manifest.overrides, ...tarballs };
  const named = Object.entries(manifest.dependencies).map(([name, version]) => [
    name,
    tarballs[name] ?? version,
  ]);
  return { ...manifest, dependencies: Object.fromEntries(named), pnpm: { ...pnpm, overrides } };
}
