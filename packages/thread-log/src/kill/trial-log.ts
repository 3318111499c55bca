import { createThreadLog, type ThreadLogOptions } from "../log/create-thread-log.js";
import type { ThreadLog } from "../port/thread-log.js";
import { openPostgres, type PostgresDatabase } from "../postgres/open-postgres.js";
import { createPostgresLogStore } from "../postgres/postgres-log-store.js";

export interface TrialStore {
  readonly databaseUrl: string;
  /** Without it the log is in PostgreSQL. */
  readonly redisUrl?: string;
}

export interface TrialLog {
  readonly log: ThreadLog;
  close(): Promise<void>;
}

/** Longer than a database takes to be started again and to recover on a busy machine. */
const PATIENCE_MS = 60_000;

/** The same in the writer that is killed and in the test that reads after it. */
export async function openTrialLog(
  { databaseUrl, redisUrl }: TrialStore,
  options: Pick<ThreadLogOptions<never>, "patienceMs" | "drainMs"> = { patienceMs: PATIENCE_MS },
): Promise<TrialLog> {
  const database = await openPostgres({ connection: databaseUrl, maxConnections: 4 });
  const redis = redisUrl === undefined ? undefined : await openRedis(redisUrl, database);
  const store = redis ?? createPostgresLogStore(database);
  const log = createThreadLog({ store, ...options });
  return {
    log,
    async close() {
      await log.close();
      await redis?.close();
      await database.close();
    },
  };
}

/** Loaded late: a writer without Redis is not kept from writing by its client, which takes longest to load. */
async function openRedis(url: string, database: PostgresDatabase) {
  const { openRedisLogStore } = await import("../redis/redis-log-store.js");
  return openRedisLogStore({ url, database });
}
