import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Stranger } from "./stranger.js";

/** Major versions that people have, beside the one that runs these tests. */
const VERSIONS = ["22", "24"];

/** Installs each from the registry, into the stranger's folder. Returns the programs by their versions. */
export async function otherNodes(person: Stranger): Promise<ReadonlyMap<string, string>> {
  const name = `node-${process.platform}-${process.arch}`;
  const programs = new Map<string, string>();
  for (const version of VERSIONS) {
    const place = `node-${version}`;
    mkdirSync(join(person.folder, place), { recursive: true });
    // A project of its own. With `--prefix` npm would look for the machine's own settings below that folder, too.
    writeFileSync(join(person.folder, place, "package.json"), JSON.stringify({ private: true }));
    await person.run("npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`], { in: place });
    programs.set(version, join(person.folder, place, "node_modules", name, "bin", "node"));
  }
  return programs;
}
