import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const BLOCK = /^```\w+ (\S+)\n(.*?)^```$/gms;

/**
 * Writes the files that a page shows into a folder: a block of code that names a file after its language is that file.
 * Returns their names.
 */
export function writeMarkdownFiles(page: string, folder: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(BLOCK)].map(([, name = "", text = ""]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return name;
  });
}
