import pg from "pg";
import { openPostgres } from "../postgres/database.js";
import { openTestDatabase, type TestDatabase } from "./test-database.js";

const EPOCH = "00000000-0000-4000-8000-000000000000";

/**
 * A database in which every thread has the same epoch, and counts its tokens by itself. Both are unique elsewhere, so that they
 * would make up for a part of the key that a statement forgets; here the key alone keeps threads apart.
 */
export async function openTwinDatabase(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  await (await openPostgres({ connection: database.url })).close();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query("alter sequence throughline.fences minvalue 0 maxvalue 1 restart with 0 cycle");
    await client.query(
      `create function public.gen_random_uuid() returns uuid language sql as $$ select '${EPOCH}'::uuid $$`,
    );
    await client.query(
      `do $$ begin
        execute format('alter database %I set search_path = public, pg_catalog', current_database());
      end $$`,
    );
  } finally {
    await client.end();
  }
  return database;
}
