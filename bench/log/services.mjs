import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createPostgresLogStore,
  openPostgres,
  openRedisBus,
} from "@throughline/thread-log";
import { launchRedis } from "./launch-redis.mjs";
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

/**
 * Everything on this machine, in a folder of its own: an embedded PostgreSQL with fsync on, and a Redis as the bus where there is
 * one to be started.
 */
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
  const redis = await launchRedis(join(folder, "redis"));
  const buses = [];
  const openStoreWithBus = async () => {
    const database = await openPostgres({ connection: postgres.url, schema: "together" });
    const bus = await openRedisBus({ url: redis.url, database });
    databases.push(database);
    buses.push(bus);
    return createPostgresLogStore(database, { bus });
  };
  const memory = createMemoryDatabase();
  const ours = {
    memory: await createOurs(async () => createMemoryLogStore(memory)),
    postgres: await createOurs(openPostgresStore),
    ...(redis && { "postgres with redis": await createOurs(openStoreWithBus) }),
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
      for (const bus of buses) bus.close();
      for (const database of databases) await database.close();
      await redis?.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
