// @ts-check
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, fingerprint } from "./fingerprint.mjs";
import { runCommand } from "./run-command.mjs";
import { readManifest, root } from "./workspace-packages.mjs";

const INSTALL_TIMEOUT_MS = 900_000;

/**
 * Installs packages as they are published, pinned by `scripts/stock/NAME`, into a cache folder of their own: they are large, and
 * nothing of the workspace (overrides, patches) may touch them. Once; needs no network afterwards.
 *
 * @param {string} name
 * @returns {Promise<string>} the folder whose `node_modules` has them
 */
export async function ensureStock(name) {
  const set = join(root, "scripts/stock", name);
  const version = fingerprint(set, filesBelow(set, ".")).slice(0, 12);
  // Not below `node_modules`, where Next.js compiles nothing.
  const folder = join(root, ".stock", `${name}-${version}`);
  const installed = join(folder, "installed");
  if (existsSync(installed)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(set, folder, { recursive: true });
  const pnpm = readManifest(".").packageManager;
  if (!pnpm) throw new Error('package.json has no "packageManager"');
  // No scripts: what the packages would run after an install only counts installations.
  const flags = ["--frozen-lockfile", "--ignore-scripts", "--node-linker=hoisted"];
  await runCommand("npx", ["--yes", "--loglevel=error", pnpm, "install", ...flags], {
    cwd: folder,
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  writeFileSync(installed, "");
  return folder;
}
