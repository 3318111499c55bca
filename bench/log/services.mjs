import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createPostgresLogStore,
  openPostgres,
  startEmbeddedPostgres,
} from "@throughline/thread-log";
import { createOurs } from "./ours.mjs";
import { createPostgresFloor } from "./postgres-floor.mjs";
import { startTwoInstances } from "./two-instances.mjs";

/**
 * A side to be measured, ours or the floor: `append` resolves when the text is durable as the thread's next entry; `watch`
 * calls back, from another instance, with every text appended to any of the threads.
 *
 * @typedef {{
 *   append: (thread: number, text: string) => Promise<unknown>,
 *   watch: (threads: readonly number[], onText: (text: string) => void) => Promise<() => Promise<void>>,
 * }} Side
 */

/** Everything on this machine, in a folder of its own: an embedded PostgreSQL with fsync on. */
export async function startServices(progress) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
  const databases = [];
  const openPostgresStore = async () => {
    const database = await openPostgres({ connection: postgres.url, schema: "alone" });
    databases.push(database);
    return createPostgresLogStore(database);
  };
  const memory = createMemoryDatabase();
  const ours = {
    memory: await createOurs(async () => createMemoryLogStore(memory)),
    postgres: await createOurs(openPostgresStore),
  };
  const floor = await createPostgresFloor(postgres.url);
  return {
    postgresUrl: postgres.url,
    stores: Object.keys(ours),
    ours: (store) => ours[store],
    floor: () => floor,
    /** The same floor for all stores on PostgreSQL. */
    hasFloor: (store) => store !== "memory",
    startTwoInstances: (kind) => startTwoInstances(kind, postgres.url),
    async stop() {
      for (const side of Object.values(ours)) await side.close();
      await floor.close();
      for (const database of databases) await database.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
