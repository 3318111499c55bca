import { migrate, openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { SERVICE_MIGRATIONS } from "../server/migrations.js";
import { openTestPostgres } from "./test-postgres.js";

export interface MigratedDatabase {
  readonly url: string;
  readonly database: PostgresDatabase;
  close(): Promise<void>;
}

/** An empty database with all tables of the service. */
export async function openMigratedDatabase(): Promise<MigratedDatabase> {
  const postgres = await openTestPostgres();
  const database = await openPostgres({ connection: postgres.url });
  for (const set of SERVICE_MIGRATIONS) await migrate(database.pool, database.schema, set);
  return {
    url: postgres.url,
    database,
    async close() {
      await database.close();
      await postgres.close();
    },
  };
}
