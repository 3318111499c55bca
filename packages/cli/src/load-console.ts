import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UsageError } from "./usage-error.js";

type ConsolePackage = typeof import("@throughline/console");

const NAME = "@throughline/console";

/**
 * The console's package, where it is installed: in the project that is served, which is where pnpm puts it, or beside this
 * command. It is a package of its own because most installs of the command need no pages.
 */
export async function loadConsole(cwd: string, find = findFrom): Promise<ConsolePackage> {
  for (const place of [join(cwd, "package.json"), fileURLToPath(import.meta.url)]) {
    const path = find(place);
    // What a package of that name exports is known from its types.
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as ConsolePackage;
  }
  throw new UsageError(`--console needs ${NAME}, which is not installed here. Run: npm install ${NAME}`);
}

/** The file that an import in this place would load. */
function findFrom(place: string): string | undefined {
  try {
    return createRequire(place).resolve(NAME);
  } catch {
    return undefined;
  }
}
