import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ThroughlineError } from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register as registerModules } from "tsx/esm/api";
import { editionUrl } from "./module-edition.js";

let typescriptLoads = false;

/**
 * From here on this process imports TypeScript. Not scoped to one import, as tsx could: a scope would load a second copy
 * of LangChain for each project, with classes of its own, at half a second and some 60 MB each.
 */
function loadTypescript(): void {
  if (typescriptLoads) return;
  typescriptLoads = true;
  registerCommonJs();
  registerModules();
}

/**
 * One export of a TypeScript or JavaScript file of a project. Failures name file and export. With an `edition` the file and
 * what it imports of the project are read again, once per edition.
 */
export async function importExport(file: string, exportName: string, edition?: number): Promise<unknown> {
  if (!existsSync(file)) throw new ThroughlineError("invalid_input", `${file}: there is no such file.`);
  if (/\.[cm]?tsx?$/.test(file)) loadTypescript();
  const module = await importFile(
    edition === undefined ? pathToFileURL(file) : editionUrl(file, edition),
    file,
  );
  // A file that Node takes for CommonJS has its exports under `default`.
  const exported = read(module, exportName) ?? read(read(module, "default"), exportName);
  if (exported !== undefined && exported !== null) return exported;
  const names = Object.keys(module).join(", ") || "nothing";
  throw new ThroughlineError("invalid_input", `${file}: has no export "${exportName}". It exports ${names}.`);
}

async function importFile(url: URL, file: string): Promise<object> {
  try {
    const module: unknown = await import(/* @vite-ignore */ url.href);
    return typeof module === "object" && module !== null ? module : {};
  } catch (error) {
    throw new ThroughlineError(
      "invalid_input",
      `${file}: could not be imported: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
}
