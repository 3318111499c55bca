import type pg from "pg";
import { MIGRATION_MS } from "./deadlines.js";
import { inTransaction } from "./in-transaction.js";
import type { Migration } from "./migrations.js";

/**
 * Brings a component's tables in the schema up to date, in one transaction and under a lock: instances that start together
 * wait for the first. `record` is the table that remembers what was applied; each component has its own.
 */
export async function migrate(
  pool: pg.Pool,
  schema: string,
  { record, migrations }: { readonly record: string; readonly migrations: readonly Migration[] },
): Promise<void> {
  const apply = async (client: pg.PoolClient) => {
    await client.query("select pg_advisory_xact_lock(hashtext('throughline migrations'), hashtext($1))", [
      schema,
    ]);
    // Asked first, because `create … if not exists` needs the right to create even where there is nothing to do.
    const { rows: found } = await client.query<{ there: boolean }>(
      "select to_regclass($1) is not null as there",
      [`${schema}.${record}`],
    );
    if (!found[0]?.there) {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(
        `create table ${schema}.${record} (id integer primary key, applied_at timestamptz not null default now())`,
      );
    }
    const { rows } = await client.query<{ id: number }>(`select id from ${schema}.${record}`);
    const applied = new Set(rows.map(({ id }) => id));
    for (const { id, statements } of migrations) {
      if (applied.has(id)) continue;
      for (const statement of statements(schema)) await client.query(statement);
      await client.query(`insert into ${schema}.${record} (id) values ($1)`, [id]);
    }
  };
  await inTransaction(pool, apply, { statementMs: MIGRATION_MS });
}
