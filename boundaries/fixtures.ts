import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const fixturesFolder = join(import.meta.dirname, "fixtures");

/** The rules that have a tree which breaks them; a fixture is named after its rule. */
export const fixtureNames: readonly string[] = readdirSync(fixturesFolder).sort();

export const fixtureRoot = (rule: string): string => join(fixturesFolder, rule);

/** The top folders of a fixture that hold sources, as the real tree has them. */
export const topFolders = (root: string): string[] =>
  ["packages", "apps", "bench", "e2e"].filter((folder) => existsSync(join(root, folder)));
