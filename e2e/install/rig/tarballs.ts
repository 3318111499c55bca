import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");

/** Where `npm run pack` left the tarballs; the runner of these tests makes them first. */
export const TARBALLS = join(ROOT, "dist-packages");

/** The tarballs' paths by the names of their packages. */
export function tarballs(): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(TARBALLS).map((file) => {
      const name = file.replace(/-\d+\.\d+\.\d+.*\.tgz$/, "");
      return [name.replace(/^throughline-/, "@throughline/"), join(TARBALLS, file)];
    }),
  );
}

/** A project's dependencies on all of them. */
export function tarballDependencies(): Record<string, string> {
  return Object.fromEntries([...tarballs()].map(([name, path]) => [name, `file:${path}`]));
}
