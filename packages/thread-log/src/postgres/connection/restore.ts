import { isDeepStrictEqual } from "node:util";
import { type Clock, retryStore, StoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { MIGRATION_MS } from "./pool.js";
import { inTransaction } from "./transaction.js";

const SKIPPED_TOKENS = 1_000_000;

/** A pool, or one connection. */
export interface Sender {
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
}

/**
 * R19: a database restored from a backup, or promoted after a failover, may have lost entries that readers have seen; then
 * old cursors would point at other entries. Such a database is not the one it remembers to be: its server has another system
 * identifier or timeline, or its tables were recreated. Then every epoch is renewed. Returns whether it was. `fresh` asks the
 * server: after an outage that must be a new connection, because an old one of the pool may still lead to the server of before.
 */
export async function renewEpochsAfterRestore(
  pool: pg.Pool,
  schema: string,
  fresh: Sender = pool,
): Promise<boolean> {
  const identity = await identify(fresh, schema);
  if (await isRemembered(fresh, schema, identity)) return false;
  const renew = async (client: pg.PoolClient) => {
    if (!isDeepStrictEqual(await identify(client, schema), identity)) {
      throw new StoreOutage(new Error("A connection of the pool leads to another server."));
    }
    let isChanged = false;
    // One after the other, always in this order: instances that start together wait for the first.
    for (const [key, value] of Object.entries(identity)) {
      if (await remember(client, schema, key, value)) isChanged = true;
    }
    if (isChanged) await renewEpochs(client, schema);
    return isChanged;
  };
  return inTransaction(pool, renew, { statementMs: MIGRATION_MS });
}

/** Gives whether something else was remembered. */
async function remember(client: pg.PoolClient, schema: string, key: string, value: string): Promise<boolean> {
  const inserted = await client.query(
    `insert into ${schema}.meta (key, value) values ($1, $2) on conflict do nothing`,
    [key, value],
  );
  if (inserted.rowCount === 1) return false;
  const changed = await client.query(`update ${schema}.meta set value = $2 where key = $1 and value <> $2`, [
    key,
    value,
  ]);
  return changed.rowCount === 1;
}

export interface RenewalOptions {
  readonly pool: pg.Pool;
  /** On a connection that was made after the outage. */
  readonly fresh: Sender;
  readonly schema: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** A server that was just promoted or restored may refuse for a while what it allows later. */
const RETRY_MS = 5_000;

/**
 * Renews epochs after a lost connection, which may mean a failover: retries until the server has identified itself, or the
 * signal is aborted. A replica counts as away until it is promoted.
 */
export async function renewEpochsAfterOutage(options: RenewalOptions): Promise<void> {
  const { pool, fresh, schema, clock, signal, onError } = options;
  while (!signal.aborted) {
    try {
      await retryStore({ clock, signal }, () => renewEpochsAfterRestore(pool, schema, fresh));
      return;
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      if (!signal.aborted) await pause(clock, RETRY_MS, signal);
    }
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.schedule(ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}

/**
 * Gives every thread a new epoch. Also for an operator who restored a volume in place, which nothing in the database shows.
 * Where no instance is at work, cursors from before the backup stay good. A copy of a database is another database, so it gets
 * another id.
 */
export async function renewEpochs(client: pg.ClientBase, schema: string): Promise<void> {
  const isUnused = !(await hasInstances(client));
  await client.query(renewEpochsStatement(schema), [isUnused]);
  if (isUnused) await client.query(`delete from ${schema}.meta where key = 'database'`);
  // Tokens minted after the backup was taken are out there, too.
  await client.query(`select setval('${schema}.fences', nextval('${schema}.fences') + ${SKIPPED_TOKENS})`);
}

/** Whether an instance writes to this database, or listens to it. */
export async function hasInstances(client: Pick<pg.ClientBase, "query">): Promise<boolean> {
  const { rows } = await client.query<{ sessions: number }>(INSTANCES_STATEMENT);
  return (rows[0]?.sessions ?? 0) > 0;
}

/** The identity that a database remembers, by its keys in `meta`. */
interface Identity {
  /** Absent where the server does not reveal it. */
  readonly cluster?: string;
  /** The ids of the database and of a table in it: restoring a dump recreates both, also on the same server. */
  readonly tables: string;
}

async function identify(sender: Sender, schema: string): Promise<Identity> {
  const cluster = await clusterIdentity(sender);
  const { rows } = await sender.query<{ tables: string }>(
    `select oid || '/' || '${schema}.meta'::regclass::oid as tables from pg_database where datname = current_database()`,
  );
  return { ...(cluster !== undefined && { cluster }), tables: rows[0]?.tables ?? "" };
}

async function isRemembered(sender: Sender, schema: string, identity: Identity): Promise<boolean> {
  const { rows } = await sender.query<{ key: string; value: string }>(
    `select key, value from ${schema}.meta where key in ('cluster', 'tables')`,
  );
  const remembered = new Map(rows.map(({ key, value }) => [key, value]));
  return Object.entries(identity).every(([key, value]) => remembered.get(key) === value);
}

/** `insufficient_privilege`, `undefined_function`, `feature_not_supported`: how a hosted server hides its control data. */
const HIDDEN = new Set(["42501", "42883", "0A000"]);

/** Reads the identity of the server. `undefined` where it does not reveal it. A server that does not respond is an error. */
async function clusterIdentity(sender: Sender): Promise<string | undefined> {
  try {
    const { rows } = await sender.query<{ identity: string }>(
      `select system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as identity
       from pg_control_system()`,
    );
    return rows[0]?.identity;
  } catch (error) {
    if (error instanceof pg.DatabaseError && HIDDEN.has(error.code ?? "")) return undefined;
    throw error;
  }
}
/**
 * Gives every thread a new epoch, and locks all of them until the transaction ends: nothing may be written in the old one.
 * Parameter: whether nothing was written since the restore. Then what the log holds up to its head is what readers of the old epoch have
 * seen, and each thread remembers that. `restored_as` ties it to the new epoch: one that a deletion gives later is no
 * continuation.
 */
function renewEpochsStatement(schema: string): string {
  return `
update ${schema}.threads t set epoch = renewed.epoch,
  restored_from = case when $1 then t.epoch end,
  restored_at = case when $1 then t.head end,
  restored_as = case when $1 then renewed.epoch end
from (
  select log_id, replace(gen_random_uuid()::text, '-', '') as epoch from ${schema}.threads order by log_id for update
) renewed
where t.log_id = renewed.log_id`;
}

/** The last position of the epoch `asked` that this log holds as well; null where it is no continuation of that one. */
export function continuedAt(asked: string): string {
  return `case when t.restored_from = ${asked} and t.restored_as = t.epoch then t.restored_at end`;
}

/**
 * The sessions of instances that write to this database or listen to it. An instance that starts has neither. Sessions of another role
 * show no name to one without `pg_read_all_stats`: instances share a role. Locks nothing.
 */
const INSTANCES_STATEMENT = `
select count(*)::int as sessions from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
  and application_name in ('throughline commit', 'throughline wake')`;
