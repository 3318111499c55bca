import type { RunOptions, Stranger } from "./stranger.js";

/** npm as it is on this machine, and pnpm in the versions that people have. */
export const PACKAGE_MANAGERS = ["npm", "pnpm@10.34.8", "pnpm@12"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** What runs a script or an install with it. pnpm needs no place on the machine: npx brings it. */
export function command(manager: PackageManager, args: readonly string[]): [string, string[]] {
  return manager === "npm" ? ["npm", [...args]] : ["npx", ["--yes", manager, ...args]];
}

export async function install(
  person: Stranger,
  manager: PackageManager,
  options: RunOptions = {},
): Promise<string> {
  const quiet = manager === "npm" ? ["--no-audit", "--no-fund"] : [];
  return person.run(...command(manager, ["install", ...quiet]), options);
}
