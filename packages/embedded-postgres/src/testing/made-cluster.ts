import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../start.js";
import { makeTempFolder } from "./temp-folder.js";

export interface MadeCluster {
  /** Leaves the folder as a server does that was started there once, and stopped. */
  copyTo(dataDir: string): void;
  remove(): void;
}

/** Made once, for all tests of a file that are not about making one: a copy costs a tenth. */
export async function makeCluster(): Promise<MadeCluster> {
  const folder = makeTempFolder();
  await (await startEmbeddedPostgres({ dataDir: folder.path })).stop();
  return {
    copyTo(dataDir) {
      mkdirSync(dataDir, { recursive: true });
      // Node's own copy gives the files to us, and PostgreSQL serves only what is its user's.
      execFileSync("cp", ["-Rp", join(folder.path, "cluster"), dataDir]);
    },
    remove: folder.remove,
  };
}
