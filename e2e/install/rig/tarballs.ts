import { readdirSync, readFileSync } from "node:fs";
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

/** What a project tells its package manager of LangChain, as the docs say and a new project does. */
export function langchainLine(): Record<string, string> {
  const template = join(ROOT, "packages", "create-throughline", "template", "package.json");
  return JSON.parse(readFileSync(template, "utf8")).overrides;
}
