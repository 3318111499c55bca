import { randomBytes } from "node:crypto";
import type { PostgresDatabase } from "./open-postgres.js";

/** A random name of this database, made once: what is kept about it outside of it is kept under this. */
export async function databaseId({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): Promise<string> {
  await pool.query(`insert into ${schema}.meta (key, value) values ('database', $1) on conflict do nothing`, [
    randomBytes(9).toString("base64url"),
  ]);
  const { rows } = await pool.query<{ value: string }>(
    `select value from ${schema}.meta where key = 'database'`,
  );
  return rows[0]?.value ?? "";
}
