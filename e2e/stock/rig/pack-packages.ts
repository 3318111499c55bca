import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = fileURLToPath(new URL("../../../packages", import.meta.url));
/** What a service in one's own process is made of. */
const NAMES = [
  "ai-core",
  "coerce",
  "questions",
  "reading",
  "stream-adapter",
  "thread-log",
  "graph-executor",
  "billing",
  "langgraph-graphs",
  "langgraph-server",
];

let packed: Readonly<Record<string, string>> | undefined;

/** Our packages by name, each as the address of its tarball. Packed once for all tests of a process. */
export function packPackages(): Readonly<Record<string, string>> {
  packed ??= Object.fromEntries(NAMES.map((name) => [`@throughline/${name}`, `file:${pack(name)}`]));
  return packed;
}

function pack(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `throughline-pack-`));
  const done = spawnSync("pnpm", ["pack", "--pack-destination", folder], {
    cwd: join(PACKAGES, name),
    encoding: "utf8",
  });
  const [file] = readdirSync(folder);
  if (done.status !== 0 || file === undefined)
    throw new Error(`${name} can't be packed:\n${done.stdout}${done.stderr}`);
  return join(folder, file);
}
