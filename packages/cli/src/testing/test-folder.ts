import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestFolder {
  readonly path: string;
  remove(): void;
}

/** A folder of a test's own. */
export function makeFolder(): TestFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "throughline-cli-")));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
