// @ts-check
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ensureConsolePacked } from "./ensure-console-packed.mjs";
import { runPnpm } from "./ensure-installed.mjs";
import { readOptions } from "./read-options.mjs";
import { consoleSentence, runStep } from "./steps.mjs";
import { ensureReady } from "./workspace.mjs";
import { root, workspacePackages } from "./workspace-packages.mjs";

const FOLDER = "dist-packages";

readOptions(
  [
    "npm run pack",
    "",
    `Builds every public package, and the console, and packs each into ${FOLDER}/ as the tarball that a registry would get. To make`,
    "a project from them, in another folder:",
    "",
    `  npx --yes --package=CLONE/${FOLDER}/create-throughline-0.0.0.tgz create-throughline my-agent --packages CLONE/${FOLDER}`,
  ].join("\n"),
  {},
);

// An optional peer of the workspace is packed from where it is installed.
await ensureReady({ forTests: true });
await runStep(ensureConsolePacked, consoleSentence, { doing: "building the console" });
await runStep(packEach, ({ files, bytes }) => ({
  changed: true,
  text: `packed ${files.length} packages into ${FOLDER}/, ${(bytes / 1e6).toFixed(1)} MB in all`,
}));

async function packEach() {
  const target = join(root, FOLDER);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const names = workspacePackages().flatMap(({ name, manifest }) => (manifest.private ? [] : [name]));
  await runPnpm([
    "--recursive",
    ...names.map((name) => `--filter=${name}`),
    "pack",
    "--pack-destination",
    target,
  ]);
  const files = readdirSync(target).filter((file) => file.endsWith(".tgz"));
  if (files.length !== names.length) {
    throw new Error(`${names.length} packages are public, and ${files.length} were packed.`);
  }
  const bytes = files.reduce((sum, file) => sum + statSync(join(target, file)).size, 0);
  return { files, bytes };
}
