// @ts-check
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { dropStamp, filesBelow, fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { runCommand } from "./run-command.mjs";
import { runInOrder } from "./run-in-order.mjs";
import { commandScript, root, stampFolder, workspacePackages } from "./workspace-packages.mjs";

/** @typedef {import("./workspace-packages.mjs").WorkspacePackage} WorkspacePackage */

// The lockfile is among them: another version of a dependency may give other types.
const sharedInputs = ["tsconfig.base.json", "tsdown.base.ts", "pnpm-lock.yaml"];

/** @param {WorkspacePackage} workspacePackage */
export function dependencyNames({ manifest }) {
  return Object.keys({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.peerDependencies,
  });
}

/**
 * What a package's build reads of its own folder. Tests are left out: changing one must not rebuild anything.
 *
 * @param {readonly string[]} sources
 */
export function buildInputs(sources) {
  return sources.filter((file) => !/\.test\.tsx?$/.test(file));
}

/** The one part that Next builds. */
const consoleFolder = "apps/web";

/** @param {string} folder */
const distFingerprint = (folder) => fingerprint(root, filesBelow(root, `${folder}/dist`));

/**
 * @param {WorkspacePackage} workspacePackage
 * @param {Map<string, WorkspacePackage>} built
 */
function inputFingerprint(workspacePackage, built) {
  const { folder } = workspacePackage;
  const own = ["src", "package.json", "tsconfig.json", "tsdown.config.ts"];
  const files = own.flatMap((path) => filesBelow(root, `${folder}/${path}`));
  const upstream = dependencyNames(workspacePackage).flatMap((name) => built.get(name)?.folder ?? []);
  return fingerprint(root, [...buildInputs(files), ...sharedInputs], upstream.map(distFingerprint));
}

/**
 * Builds every package whose inputs changed since its last build, dependencies first.
 *
 * @returns {Promise<{ built: string[] }>}
 */
export async function ensureBuilt() {
  const packages = workspacePackages().filter(({ folder }) => existsSync(join(root, folder, "src/index.ts")));
  const byName = new Map(packages.map((item) => [item.name, item]));
  const built = await runInOrder({
    items: packages,
    limit: 2,
    nameOf: ({ name }) => name,
    dependsOn: dependencyNames,
    run: async (item) => ((await buildIfChanged(item, byName)) ? [item.name] : []),
  });
  return { built: built.flat() };
}

/**
 * @param {WorkspacePackage} item
 * @param {Map<string, WorkspacePackage>} byName
 */
async function buildIfChanged(item, byName) {
  const stampPath = join(stampFolder, "build", basename(item.folder));
  const inputs = inputFingerprint(item, byName);
  // The output is part of the stamp: a dist that was deleted or overwritten by hand is built again.
  if (readStamp(stampPath) === `${inputs} ${distFingerprint(item.folder)}`) return false;

  dropStamp(stampPath);
  await runCommand(process.execPath, [commandScript("tsdown")], { cwd: join(root, item.folder) });
  writeStamp(stampPath, `${inputs} ${distFingerprint(item.folder)}`);
  return true;
}

/**
 * Builds the console if it or a package of ours that it uses changed since its last build. The packages must be built.
 *
 * @returns {Promise<{ built: string[] }>}
 */
export async function ensureConsoleBuilt() {
  const inputs = consoleInputs();
  const stampPath = join(stampFolder, "build", basename(consoleFolder));
  if (readStamp(stampPath) === `${inputs} ${consoleOutput()}`) return { built: [] };

  dropStamp(stampPath);
  const next = join(root, consoleFolder, "node_modules", "next", "dist", "bin", "next");
  await runCommand(process.execPath, [next, "build"], {
    cwd: join(root, consoleFolder),
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  writeStamp(stampPath, `${inputs} ${consoleOutput()}`);
  return { built: [consoleFolder] };
}

/** One hash of all that the console is built from. */
export function consoleInputs() {
  const packages = workspacePackages();
  const item = packages.find(({ folder }) => folder === consoleFolder);
  if (!item) throw new Error(`${consoleFolder} is not part of the workspace`);
  const byName = new Map(packages.map((one) => [one.name, one]));
  const own = ["src", "public", "package.json", "tsconfig.json", "next.config.ts"];
  const files = own.flatMap((path) => filesBelow(root, `${consoleFolder}/${path}`));
  const upstream = dependencyNames(item).flatMap((name) => byName.get(name)?.folder ?? []);
  return fingerprint(root, [...buildInputs(files), ...sharedInputs], upstream.map(distFingerprint));
}

/** Of what is served, and not of what `next build`, `next dev` and `next start` keep beside it for themselves. */
function consoleOutput() {
  const served = ["BUILD_ID", "server", "static"].flatMap((path) =>
    filesBelow(root, `${consoleFolder}/.next/${path}`),
  );
  // Written while it runs: were it counted, every start after a visit would build anew.
  return fingerprint(
    root,
    served.filter((file) => !file.includes("/server/route-cache/")),
  );
}
