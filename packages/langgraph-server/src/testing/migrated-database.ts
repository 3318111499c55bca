import { migrate, openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../database/server-migrations.js";
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
  await migrate(database.pool, database.schema, {
    record: SERVER_MIGRATIONS_RECORD,
    migrations: SERVER_MIGRATIONS,
  });
  return {
    url: postgres.url,
    database,
    async close() {
      await database.close();
      await postgres.close();
    },
  };
}
