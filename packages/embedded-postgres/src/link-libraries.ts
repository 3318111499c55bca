import { readFile, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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

/** Links lie beside the files they lead to. Packages of systems whose libraries have no links list none. */
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
