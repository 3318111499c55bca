// @ts-check
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cacheFolder } from "./ensure-litellm.mjs";
import { runCommand } from "./run-command.mjs";
import { readManifest, root } from "./workspace-packages.mjs";

const SOURCE = join(root, "scripts/stock");
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs packages as they are published, outside the workspace, which patches them; once.
 *
 * @returns {Promise<NodeJS.Require>} loads them, as CommonJS
 */
export async function ensureStock() {
  const folder = cacheFolder(
    "stock",
    readdirSync(SOURCE).map((name) => join(SOURCE, name)),
  );
  const ready = join(folder, "ready");
  if (!existsSync(ready)) {
    rmSync(folder, { recursive: true, force: true });
    cpSync(SOURCE, folder, { recursive: true });
    const windows = process.platform === "win32";
    const pnpm = readManifest(".").packageManager ?? "pnpm";
    const args = ["--yes", "--loglevel=error", pnpm, "install", "--frozen-lockfile", "--ignore-scripts"];
    await runCommand(windows ? "npx.cmd" : "npx", args, {
      cwd: folder,
      timeoutMs: INSTALL_TIMEOUT_MS,
      shell: windows,
    });
    writeFileSync(ready, "");
  }
  return createRequire(join(folder, "package.json"));
}
