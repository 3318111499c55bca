import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** The files of an archive by their paths, as the system's own tar unpacks them. */
export function unpackTar(archive: Uint8Array): ReadonlyMap<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "export-"));
  try {
    execFileSync("tar", ["-x", "-C", folder], { input: archive, stdio: ["pipe", "ignore", "inherit"] });
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return new Map(
      files.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path), readFileSync(path)];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
