import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder {
  readonly path: string;
  remove(): void;
}

/** Open to other users, unlike `mkdtemp`: a database that root starts runs as another user. */
export function makeTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), "throughline-test-"));
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
