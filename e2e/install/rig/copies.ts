import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** How many copies of a package a project has installed; links to one are one. */
export function copiesOf(project: string, name: string): number {
  const found = new Set<string>();
  const seen = new Set<string>();
  (function walk(modules: string): void {
    if (!existsSync(modules) || seen.has(realpathSync(modules))) return;
    seen.add(realpathSync(modules));
    const own = join(modules, name);
    if (existsSync(join(own, "package.json"))) found.add(realpathSync(own));
    for (const folder of packageFolders(modules)) walk(join(folder, "node_modules"));
  })(join(project, "node_modules"));
  return found.size;
}

function packageFolders(modules: string): readonly string[] {
  return readdirSync(modules, { withFileTypes: true }).flatMap((entry) => {
    const path = join(modules, entry.name);
    if (entry.name.startsWith("@")) return readdirSync(path).map((name) => join(path, name));
    // pnpm keeps each package beside what it depends on, below this folder.
    if (entry.name === ".pnpm") return readdirSync(path).map((name) => join(path, name));
    return entry.isDirectory() || entry.isSymbolicLink() ? [path] : [];
  });
}
