import { ThroughlineError } from "@throughline/ai-core";
import type pg from "pg";
import { MIGRATION_MS } from "../connection/pool.js";
import { inTransaction } from "../connection/transaction.js";
import type { Migration } from "./tables.js";

interface AppliedMigration {
  readonly id: number;
  /** Null where it was recorded before this was. */
  readonly runs_with: number | null;
}

export interface Component {
  /** The table that remembers which migrations were applied; each component has its own. */
  readonly record: string;
  readonly migrations: readonly Migration[];
}

/**
 * Brings a component's tables in the schema up to date, in one transaction and under a lock: instances that start together
 * wait for the first. Refuses tables that a newer version has changed, unless that version declares that this one works on them.
 */
export async function migrate(
  pool: pg.Pool,
  schema: string,
  { record, migrations }: Component,
): Promise<void> {
  const table = `${schema}.${record}`;
  const apply = async (client: pg.PoolClient) => {
    await client.query("select pg_advisory_xact_lock(hashtext('throughline migrations'), hashtext($1))", [
      schema,
    ]);
    const { isThere, recordsReach } = await inspectRecord(client, table);
    if (!isThere) {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(
        `create table ${table} (
           id integer primary key, applied_at timestamptz not null default now(), runs_with integer)`,
      );
    }
    const applied = isThere ? await readApplied(client, table, recordsReach) : [];
    const refusal = refusalOf(applied, migrations, table);
    if (refusal) throw new ThroughlineError("conflict", `${refusal.said} ${refusal.fix}`);
    const due = dueOf(applied, migrations);
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

/** Why this version does not run on the tables, and what helps. */
export interface MigrationRefusal {
  readonly said: string;
  readonly fix: string;
}

export interface MigrationState {
  /** How many migrations a start would apply. */
  readonly due: number;
  /** A newer version has changed the tables. */
  readonly isNewer: boolean;
  /** Set where a start would be refused. */
  readonly refusal: MigrationRefusal | undefined;
}

/** Inspects what `migrate` would do; changes nothing. */
export async function inspectMigrations(
  client: Queries,
  schema: string,
  { record, migrations }: Component,
): Promise<MigrationState> {
  const table = `${schema}.${record}`;
  const { isThere, recordsReach } = await inspectRecord(client, table);
  const applied = isThere ? await readApplied(client, table, recordsReach) : [];
  return {
    due: dueOf(applied, migrations).length,
    isNewer: applied.some(({ id }) => id > newestOf(migrations)),
    refusal: refusalOf(applied, migrations, table),
  };
}

type Queries = Pick<pg.ClientBase, "query">;

/** Asked first, because `create … if not exists` needs the right to create even where there is nothing to do. */
async function inspectRecord(
  client: Queries,
  table: string,
): Promise<{ readonly isThere: boolean; readonly recordsReach: boolean }> {
  const { rows } = await client.query<{ there: boolean; reach: boolean }>(
    `select to_regclass($1) is not null as there, exists (
       select 1 from pg_attribute where attrelid = to_regclass($1) and attname = 'runs_with') as reach`,
    [table],
  );
  return { isThere: rows[0]?.there ?? false, recordsReach: rows[0]?.reach ?? false };
}

async function readApplied(
  client: Queries,
  table: string,
  recordsReach: boolean,
): Promise<readonly AppliedMigration[]> {
  const reach = recordsReach ? "runs_with" : "null::integer as runs_with";
  const { rows } = await client.query<AppliedMigration>(`select id, ${reach} from ${table}`);
  return rows;
}

function dueOf(applied: readonly AppliedMigration[], migrations: readonly Migration[]): readonly Migration[] {
  const ids = new Set(applied.map(({ id }) => id));
  return migrations.filter(({ id }) => !ids.has(id));
}

function newestOf(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map(({ id }) => id));
}

function refusalOf(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  table: string,
): MigrationRefusal | undefined {
  const newest = newestOf(migrations);
  const unknown = applied.find(({ id, runs_with }) => id > newest && (runs_with ?? id) > newest);
  return (
    unknown && {
      said:
        `A newer version of Throughline has changed the database (${table} has ${unknown.id}, this version knows ${newest}), ` +
        "and this version does not run on it.",
      fix: "Start that version or a later one, or restore a backup from before the upgrade.",
    }
  );
}
