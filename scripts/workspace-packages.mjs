// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where we note what was installed and built; it goes away with node_modules, as it should. */
export const stampFolder = join(root, "node_modules", ".throughline");

/**
 * @typedef {object} Manifest
 * @property {string} [name]
 * @property {boolean} [private]
 * @property {string} [description]
 * @property {string} [packageManager]
 * @property {string | Record<string, string>} [bin]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 *
 * @typedef {{ name: string; folder: string; manifest: Manifest }} WorkspacePackage
 */

/**
 * @param {string} folder relative to the root
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

/**
 * The `packages:` list of pnpm-workspace.yaml. It is read before anything is installed, hence without a YAML parser:
 * a pattern is a folder or `folder/*`.
 *
 * @param {string} yaml
 * @returns {string[]}
 */
export function workspacePatterns(yaml) {
  const list = /^packages:\n((?:[ \t]+-.*\n?|[ \t]*#.*\n|\n)*)/m.exec(yaml)?.[1] ?? "";
  return [...list.matchAll(/^[ \t]+-[ \t]+["']?([^"'\s#]+)/gm)].flatMap(([, pattern]) => pattern ?? []);
}

/** @returns {WorkspacePackage[]} */
export function workspacePackages() {
  return workspacePatterns(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"))
    .flatMap((pattern) => {
      if (!pattern.endsWith("/*")) return [pattern];
      const parent = pattern.slice(0, -2);
      if (!existsSync(join(root, parent))) return [];
      return readdirSync(join(root, parent))
        .sort()
        .map((name) => `${parent}/${name}`);
    })
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => {
      const manifest = readManifest(folder);
      return { name: manifest.name ?? folder, folder, manifest };
    });
}

/**
 * The script behind a package's command. Run with Node itself it works on every platform and starts no shell.
 *
 * @param {string} packageName
 * @param {string} [command]
 */
export function commandScript(packageName, command = packageName) {
  const folder = join("node_modules", packageName);
  const { bin } = readManifest(folder);
  const script = typeof bin === "string" ? bin : bin?.[command];
  if (!script) throw new Error(`${packageName} has no command ${command}`);
  return join(root, folder, script);
}
