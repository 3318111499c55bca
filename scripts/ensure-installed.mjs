// @ts-check
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkPatches } from "./check-patches.mjs";
import { dropStamp, filesBelow, fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { runCommand } from "./run-command.mjs";
import { readManifest, root, stampFolder, workspacePackages } from "./workspace-packages.mjs";

/** @typedef {"run" | "all"} Level `run` is what building and running needs; `all` adds what tests and checks need. */

const stampPath = join(stampFolder, "install");

/**
 * What to install, or nothing. A tree that has everything keeps it: `npm start` after `npm test` must not take the test
 * tools away.
 *
 * @param {{ wanted: Level; present: Level | undefined; upToDate: boolean }} situation
 * @returns {Level | undefined}
 */
export function levelToInstall({ wanted, present, upToDate }) {
  if (present === "all") return upToDate ? undefined : "all";
  if (present === "run" && wanted === "run" && upToDate) return undefined;
  return wanted;
}

/**
 * pnpm's own note of what it installed, so that an install made by hand counts too.
 *
 * @returns {Level | undefined}
 */
function presentLevel() {
  const path = join(root, "node_modules", ".modules.yaml");
  if (!existsSync(path)) return undefined;
  return /"?devDependencies"?:\s*true/.test(readFileSync(path, "utf8")) ? "all" : "run";
}

function currentFingerprint() {
  const manifests = workspacePackages().map(({ folder }) => `${folder}/package.json`);
  const inputs = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests];
  // Their sources, beside them, change nothing that is installed.
  const patches = filesBelow(root, "patches").filter((file) => file.endsWith(".patch"));
  return fingerprint(root, [...inputs, ...patches]);
}

function everyPackageIsLinked() {
  return workspacePackages().every(
    ({ folder, manifest }) =>
      Object.keys(manifest.dependencies ?? {}).length === 0 || existsSync(join(root, folder, "node_modules")),
  );
}

/**
 * Installs what is missing; does nothing, and needs no network, when nothing changed.
 *
 * @param {Level} wanted
 * @returns {Promise<{ changed: boolean }>}
 */
export async function ensureInstalled(wanted) {
  checkPatches();
  const stamp = currentFingerprint();
  const upToDate = readStamp(stampPath) === stamp && everyPackageIsLinked();
  const level = levelToInstall({ wanted, present: presentLevel(), upToDate });
  if (!level) return { changed: false };

  // An install that is interrupted leaves no stamp behind, so the next one finishes it.
  dropStamp(stampPath);
  await runPnpm(["install", "--frozen-lockfile", level === "run" ? "--prod" : "--prod=false"]);
  writeStamp(stampPath, stamp);
  return { changed: true };
}

/**
 * Runs the version of pnpm that the repository names, in its root.
 *
 * @param {readonly string[]} args
 */
export async function runPnpm(args) {
  const windows = process.platform === "win32";
  const pnpm = readManifest(".").packageManager;
  if (!pnpm) throw new Error('package.json has no "packageManager"');
  const onTerminal = Boolean(process.stdout.isTTY) && !process.env.CI;
  await runCommand(
    windows ? "npx.cmd" : "npx",
    // npm's log level keeps its warnings off the terminal; pnpm would inherit it and show no progress.
    ["--yes", "--loglevel=error", pnpm, ...args, "--loglevel=info", "--config.confirm-modules-purge=false"],
    { cwd: root, env: installEnvironment(), stream: onTerminal, shell: windows },
  );
}

function installEnvironment() {
  // NODE_ENV=production would leave the dev dependencies out of a full install.
  const { NODE_ENV: _, ...env } = process.env;
  return { ...env, npm_config_update_notifier: "false" };
}
