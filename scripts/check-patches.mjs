// @ts-check
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, workspacePackages } from "./workspace-packages.mjs";

/** @typedef {import("./workspace-packages.mjs").WorkspacePackage} WorkspacePackage */

/**
 * The `patchedDependencies:` of pnpm-workspace.yaml. It is read before anything is installed, hence without a YAML parser.
 *
 * @param {string} yaml
 * @returns {{ name: string; version: string; patch: string }[]}
 */
export function patchedDependencies(yaml) {
  const section = /^patchedDependencies:\n((?:[ \t]+.*\n?)*)/m.exec(yaml)?.[1] ?? "";
  return [...section.matchAll(/^[ \t]+["']?(@?[^@"'\s]+)@([^"':\s]+)["']?:[ \t]+(\S+)/gm)].map(
    ([, name = "", version = "", patch = ""]) => ({ name, version, patch }),
  );
}

/**
 * What to tell who has changed the version of a patched package; undefined if every patch fits.
 *
 * @param {ReturnType<typeof patchedDependencies>} patched
 * @param {readonly Pick<WorkspacePackage, "folder" | "manifest">[]} packages
 * @returns {string | undefined}
 */
export function patchProblem(patched, packages) {
  for (const { name, version, patch } of patched) {
    for (const { folder, manifest } of packages) {
      const wanted = manifest.devDependencies?.[name] ?? manifest.dependencies?.[name];
      if (wanted === undefined || wanted === version) continue;
      return [
        `${folder}/package.json wants ${name} ${wanted}, but ${patch} was made for ${version}.`,
        "If the new version does what the patch adds, delete the patch; otherwise make it for the new version:",
        'docs/stock.md, "A new version of the package", says how.',
      ].join("\n");
    }
  }
  return undefined;
}

/** pnpm would only say that a patch was not used, or install the package without it. */
export function checkPatches() {
  const yaml = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const problem = patchProblem(patchedDependencies(yaml), workspacePackages());
  if (problem !== undefined) throw new Error(problem);
}
