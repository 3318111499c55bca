import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { packPackages } from "./pack-packages.js";

const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

const manifestSchema = z.looseObject({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
});

/** An example in a folder of its own, installed as a person would install it. */
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
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (installed.status !== 0) throw new Error(`${name} can't be installed:\n${installed.stderr}`);
  return {
    folder,
    scripts: manifest.scripts,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}

/** Until they are published, packages of ours come from tarballs; those that they need are named too. */
function fromTarballs(manifest: z.infer<typeof manifestSchema>): z.infer<typeof manifestSchema> {
  const isOurs = (name: string) => name.startsWith("@throughline/");
  if (!Object.keys(manifest.dependencies).some(isOurs)) return manifest;
  return { ...manifest, dependencies: { ...manifest.dependencies, ...packPackages() } };
}
