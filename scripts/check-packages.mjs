// @ts-check
// publint on every public package, in one process: starting npm for each of them costs more than the check itself.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { runCommand } from "./run-command.mjs";
import { readManifest, root, workspacePackages } from "./workspace-packages.mjs";

const folders = workspacePackages()
  .filter(({ manifest, folder }) => !manifest.private && existsSync(join(root, folder, "dist")))
  .map(({ folder }) => folder);

/** @type {Map<string, string[]>} The files npm would publish, by package name. */
const published = new Map();
const windows = process.platform === "win32";
const listed = await runCommand(
  windows ? "npm.cmd" : "npm",
  [
    "pack",
    "--dry-run",
    "--json",
    "--ignore-scripts",
    "--loglevel=silent",
    ...folders.map((one) => `./${one}`),
  ],
  { cwd: root, shell: windows },
);
for (const { name, files } of JSON.parse(listed)) {
  published.set(
    name,
    files.map((/** @type {{ path: string }} */ { path }) => path),
  );
}

for (const folder of folders) {
  const { name } = readManifest(folder);
  const files = (published.get(name ?? folder) ?? []).map((path) => ({
    name: `package/${path}`,
    data: readFileSync(join(root, folder, path)),
  }));
  const { messages, pkg } = await publint({ pkgDir: "package", strict: true, pack: { files } });
  for (const message of messages) {
    console.log(`${folder}: ${message.type}: ${formatMessage(message, pkg, { color: false })}`);
    if (message.type === "error") process.exitCode = 1;
  }
}
