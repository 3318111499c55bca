import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createPostgresLogStore,
  openPostgres,
  openRedisLogStore,
  startEmbeddedPostgres,
} from "@throughline/thread-log";
import { launchRedis } from "./launch-redis.mjs";
import { createOurs } from "./ours.mjs";
import { createPostgresFloor } from "./postgres-floor.mjs";
import { createRedisFloor } from "./redis-floor.mjs";

/**
 * A side to be measured, ours or the floor: `append` resolves when the text is durable as the thread's next entry; `watch`
 * calls back, from another instance, with every text appended to any of the threads.
 *
 * @typedef {{
 *   append: (thread: number, text: string) => Promise<unknown>,
 *   watch: (threads: readonly number[], onText: (text: string) => void) => Promise<() => Promise<void>>,
 * }} Side
 */

/** Everything on this machine, in a folder of its own: an embedded PostgreSQL with fsync on, and a Redis if there is one. */
export async function startServices(progress) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
  const redis = await launchRedis(join(folder, "redis"));
  progress(
    redis ? "Redis with appendfsync everysec." : "No redis-server on the PATH: its numbers are left out.",
  );
  const closers = [];
  const openDatabase = async (schema) => {
    const database = await openPostgres({ connection: postgres.url, schema });
    closers.push(() => database.close());
    return database;
  };
  const openRedis = async () => {
    const store = await openRedisLogStore({ url: redis.url, database: await openDatabase("beside_redis") });
    closers.unshift(() => store.close());
    return store;
  };
  const memory = createMemoryDatabase();
  const openPostgresStore = async () => createPostgresLogStore(await openDatabase("alone"));
  const ours = {
    memory: await createOurs(async () => createMemoryLogStore(memory)),
    postgres: await createOurs(openPostgresStore),
    ...(redis && { redis: await createOurs(openRedis) }),
  };
  const floors = {
    postgres: await createPostgresFloor(postgres.url),
    ...(redis && { redis: await createRedisFloor(redis.url) }),
  };
  return {
    postgresUrl: postgres.url,
    stores: Object.keys(ours),
    ours: (store) => ours[store],
    floor: (store) => floors[store],
    hasFloor: (store) => Object.hasOwn(floors, store),
    async stop() {
      for (const side of Object.values(ours)) await side.close();
      for (const side of Object.values(floors)) await side.close();
      for (const close of closers) await close();
      await redis?.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
