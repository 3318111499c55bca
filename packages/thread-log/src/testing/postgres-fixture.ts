import { retryStore, systemClock } from "@throughline/ai-core";
import pg from "pg";
import type { LogStoreFixture } from "../conformance/log-scene.js";
import type { LogStore } from "../log/log-store.js";
import { openPostgres } from "../postgres/database.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { openTestDatabase } from "./test-database.js";
import { trackCalls } from "./track-calls.js";

export interface PostgresFixture extends LogStoreFixture {
  readonly url: string;
}

/** Another test may interrupt the database this very moment, and everybody's connections come back at once. */
function patiently<T>(work: () => Promise<T>): Promise<T> {
  return retryStore({ clock: systemClock, patienceMs: 20_000 }, work);
}

/** For tests: a database of its own on the embedded server. */
export async function openPostgresFixture(): Promise<PostgresFixture> {
  const { url, close } = await openTestDatabase();
  const open = new Map<LogStore, () => Promise<void>>();
  return {
    url,
    async openStore() {
      const database = await patiently(() => openPostgres({ connection: url, maxConnections: 3 }));
      const { tracked, settled } = trackCalls(createPostgresLogStore(database));
      open.set(tracked, async () => {
        await settled();
        await database.close();
      });
      return tracked;
    },
    async closeStore(store) {
      await open.get(store)?.();
      open.delete(store);
    },
    interrupt: () =>
      patiently(async () => {
        const client = new pg.Client({ connectionString: url });
        try {
          await client.connect();
          await client.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'throughline%'",
          );
        } finally {
          await client.end();
        }
      }),
    async close() {
      await Promise.all([...open.values()].map((closeStore) => closeStore()));
      await close();
    },
  };
}
