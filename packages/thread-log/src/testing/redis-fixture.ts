import type { LogStoreFixture } from "../conformance/log-scene.js";
import type { LogStore } from "../port/log-store.js";
import { openPostgres } from "../postgres/open-postgres.js";
import { openRedisLogStore } from "../redis/redis-log-store.js";
import { launchRedis, type OwnRedis, type RedisOptions } from "./launch-redis.js";
import { openTestDatabase } from "./test-database.js";
import { trackCalls } from "./track-calls.js";

export interface RedisFixture extends LogStoreFixture {
  readonly redis: OwnRedis;
  readonly databaseUrl: string;
}

/** A Redis of its own and a database of its own on the shared PostgreSQL. */
export async function openRedisFixture(options?: RedisOptions): Promise<RedisFixture> {
  const [redis, database] = await Promise.all([launchRedis(options), openTestDatabase()]);
  const closers = new Map<LogStore, () => Promise<void>>();

  async function openStore(): Promise<LogStore> {
    const postgres = await openPostgres({ connection: database.url, maxConnections: 4 });
    const store = await openRedisLogStore({ url: redis.url, database: postgres });
    const { tracked, settled } = trackCalls(store);
    closers.set(tracked, async () => {
      await settled();
      await store.close();
      await postgres.close();
    });
    return tracked;
  }

  async function closeStore(store: LogStore): Promise<void> {
    const close = closers.get(store);
    closers.delete(store);
    await close?.();
  }

  return {
    redis,
    databaseUrl: database.url,
    openStore,
    closeStore,
    async close() {
      for (const store of closers.keys()) await closeStore(store);
      await Promise.all([redis.stop(), database.close()]);
    },
  };
}
