import { ThroughlineError } from "@throughline/ai-core";
import type pg from "pg";
import { MIGRATION_MS } from "./deadlines.js";
import { inTransaction } from "./in-transaction.js";
import type { Migration } from "./migrations.js";

interface AppliedMigration {
  readonly id: number;
  /** Null where it was recorded before this was. */
  readonly runs_with: number | null;
}

/**
 * Brings a component's tables in the schema up to date, in one transaction and under a lock: instances that start together
 * wait for the first. `record` is the table that remembers what was applied; each component has its own. Refuses tables that
 * a newer version has changed, unless that version says that this one works on them.
 */
export async function migrate(
  pool: pg.Pool,
  schema: string,
  { record, migrations }: { readonly record: string; readonly migrations: readonly Migration[] },
): Promise<void> {
  const table = `${schema}.${record}`;
  const apply = async (client: pg.PoolClient) => {
    await client.query("select pg_advisory_xact_lock(hashtext('throughline migrations'), hashtext($1))", [
      schema,
    ]);
    const { isThere, recordsReach } = await inspect(client, table);
    if (!isThere) {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(
        `create table ${table} (
           id integer primary key, applied_at timestamptz not null default now(), runs_with integer)`,
      );
    }
    const { rows } = await client.query<AppliedMigration>(
      `select id, ${isThere && !recordsReach ? "null::integer as runs_with" : "runs_with"} from ${table}`,
    );
    refuseNewer(rows, migrations, table);
    const applied = new Set(rows.map(({ id }) => id));
    const due = migrations.filter(({ id }) => !applied.has(id));
    if (due.length > 0 && isThere && !recordsReach) {
      await client.query(`alter table ${table} add column if not exists runs_with integer`);
    }
    for (const { id, runsWith, statements } of due) {
      for (const statement of statements(schema)) await client.query(statement);
      await client.query(`insert into ${table} (id, runs_with) values ($1, $2)`, [id, runsWith ?? id]);
    }
  };
  await inTransaction(pool, apply, { statementMs: MIGRATION_MS });
}

/** Asked first, because `create … if not exists` needs the right to create even where there is nothing to do. */
async function inspect(
  client: pg.PoolClient,
  table: string,
): Promise<{ readonly isThere: boolean; readonly recordsReach: boolean }> {
  const { rows } = await client.query<{ there: boolean; reach: boolean }>(
    `select to_regclass($1) is not null as there, exists (
       select 1 from pg_attribute where attrelid = to_regclass($1) and attname = 'runs_with' and not attisdropped) as reach`,
    [table],
  );
  return { isThere: rows[0]?.there ?? false, recordsReach: rows[0]?.reach ?? false };
}

function refuseNewer(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  table: string,
): void {
  const newest = Math.max(0, ...migrations.map(({ id }) => id));
  const unknown = applied.find(({ id, runs_with }) => id > newest && (runs_with ?? id) > newest);
  if (unknown === undefined) return;
  throw new ThroughlineError(
    "conflict",
    `A newer version of Throughline has changed the database (${table} has ${unknown.id}, this version knows ${newest}), and ` +
      "this version does not run on it. Start that version or a later one, or restore a backup from before the upgrade.",
  );
}
