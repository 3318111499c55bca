import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const GOLDENS = new URL("../../fixtures/goldens/", import.meta.url);
const UPDATING = process.env.THROUGHLINE_UPDATE_GOLDENS === "1";

/** Ids that change with every recording. Each is numbered in the order in which it first appears, so lines stay comparable. */
const CHANGING_IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{24,32}\b/g;

/** One JSON value a line, with ids and times made the same in every recording. */
export function renderGolden(values: readonly unknown[]): string {
  const names = new Map<string, string>();
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `#${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  return values.map((value) => `${JSON.stringify(value).replace(CHANGING_IDS, nameOf)}\n`).join("");
}

/** The golden of this name, after writing it when `npm run golden -- --update` asked for that. */
export function readGolden(name: string, current: string): string {
  const file = fileURLToPath(new URL(`${name}.jsonl`, GOLDENS));
  if (UPDATING) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, current);
  }
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
