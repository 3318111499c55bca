import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";

/** A PostgreSQL of its own, with fsync on, for as long as the work takes. */
export async function withPostgres(progress, work) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
  try {
    return await work(postgres);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
