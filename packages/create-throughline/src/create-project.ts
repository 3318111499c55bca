import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { projectManifest } from "./project-manifest.js";

export interface CreateOptions {
  /** The project's folder. Created if it does not exist; must be empty but for `.git`. */
  readonly folder: string;
  /** A folder of tarballs, as `npm run pack` makes them, to install from instead of the registry. */
  readonly packages?: string | undefined;
}

export interface CreatedProject {
  readonly folder: string;
  readonly name: string;
}

/** The folder holds files already, which a template must not mix with. */
export class NotEmptyFolder extends Error {
  override readonly name = "NotEmptyFolder";
}

const TEMPLATE = fileURLToPath(new URL("../template", import.meta.url));
const OWN_MANIFEST = new URL("../package.json", import.meta.url);
/** npm packs no file of this name, so the template has it without its dot. */
const IGNORED = "gitignore";

/** Copies the template into a folder that is empty, and pins our packages to this one's version. */
export function createProject({ folder, packages }: CreateOptions): CreatedProject {
  const target = resolve(folder);
  mkdirSync(target, { recursive: true });
  if (readdirSync(target).some((name) => name !== ".git")) {
    throw new NotEmptyFolder(`${target} is not empty. Name a folder that is empty or does not exist.`);
  }
  const tarballs = packages === undefined ? undefined : tarballsIn(resolve(packages), target);
  cpSync(TEMPLATE, target, { recursive: true });
  renameSync(join(target, IGNORED), join(target, `.${IGNORED}`));
  const name = packageNameOf(target);
  const { manifest, pnpm } = projectManifest({
    template: readFileSync(join(TEMPLATE, "package.json"), "utf8"),
    name,
    version: ownVersion(),
    tarballs,
  });
  writeFileSync(join(target, "package.json"), manifest);
  writeFileSync(
    join(target, "pnpm-workspace.yaml"),
    `${readFileSync(join(TEMPLATE, "pnpm-workspace.yaml"), "utf8")}${pnpm}`,
  );
  return { folder: target, name };
}

/** A package name that npm accepts, from the folder's: lower case, without spaces. */
function packageNameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" ? "my-agent" : name;
}

function ownVersion(): string {
  // Our own file, which npm checks before it packs it.
  const { version } = JSON.parse(readFileSync(OWN_MANIFEST, "utf8")) as { version: string };
  return version;
}

/** Tarballs of ours by package name, as addresses relative to the project. */
function tarballsIn(folder: string, project: string): ReadonlyMap<string, string> {
  const found = readdirSync(folder).flatMap((file): [string, string][] => {
    const name = /^(throughline-.+|create-throughline)-\d+\.\d+\.\d+.*\.tgz$/.exec(file)?.[1];
    if (name === undefined) return [];
    const address = `file:${relative(project, join(folder, file)).split(sep).join("/")}`;
    return [[name.replace(/^throughline-/, "@throughline/"), address]];
  });
  if (found.length === 0) {
    throw new Error(
      `${folder} holds no tarballs of Throughline. Make them with npm run pack in its repository.`,
    );
  }
  return new Map(found);
}
