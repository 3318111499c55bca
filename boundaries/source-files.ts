import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const SOURCE_ROOTS = ["packages", "apps", "bench", "e2e", "platform", "scripts"];
const NOT_OURS = new Set(["node_modules", "dist", "fixtures", ".next", ".turbo", "coverage"]);
const TEXT = /\.(?:[cm]?[jt]sx?|sql|py|sh|ya?ml|json)$/;

/** Every source file of the tree at `root`, as a path with `/` relative to it. */
export function sourceFiles(root: string): string[] {
  return SOURCE_ROOTS.flatMap((folder) => filesIn(root, folder));
}

function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(root, path);
    return TEXT.test(entry.name) ? [path] : [];
  });
}
