import { type Clock, retryStore, StoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { MIGRATION_MS } from "./deadlines.js";
import { inTransaction } from "./in-transaction.js";

const SKIPPED_TOKENS = 1_000_000;

/** A pool, or one connection. */
export interface Sender {
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
}

/**
 * R19: a database restored from a backup, or promoted after a failover, may have lost entries that somebody has seen; then
 * old cursors would point at other entries. Such a database has another system identifier or timeline than the one it
 * remembers, and every epoch is renewed. Gives whether it was. `fresh` asks the server: after an outage that must be a new
 * connection, because an old one of the pool may still lead to the server of before.
 */
export async function renewEpochsAfterRestore(
  pool: pg.Pool,
  schema: string,
  fresh: Sender = pool,
): Promise<boolean> {
  const identity = await clusterIdentity(fresh);
  if (identity === undefined) return false;
  const { rows } = await fresh.query<{ value: string }>(
    `select value from ${schema}.meta where key = 'cluster'`,
  );
  if (rows[0]?.value === identity) return false;
  const renew = async (client: pg.PoolClient) => {
    if ((await clusterIdentity(client)) !== identity) {
      throw new StoreOutage(new Error("A connection of the pool leads to another server."));
    }
    const inserted = await client.query(
      `insert into ${schema}.meta (key, value) values ('cluster', $1) on conflict do nothing`,
      [identity],
    );
    if (inserted.rowCount === 1) return false;
    const changed = await client.query(
      `update ${schema}.meta set value = $1 where key = 'cluster' and value <> $1`,
      [identity],
    );
    if (changed.rowCount !== 1) return false;
    await renewEpochs(client, schema);
    return true;
  };
  return inTransaction(pool, renew, { statementMs: MIGRATION_MS });
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
 * After a lost connection, behind which may be a failover: tries until the server has said which one it is, or the signal is
 * aborted. A replica counts as away until it is promoted.
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

/** For an operator who restored a volume in place, which nothing in the database can tell. */
export async function renewEpochs(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query(
    `update ${schema}.threads set epoch = replace(gen_random_uuid()::text, '-', '') where log_id in (
       select log_id from ${schema}.threads order by log_id for update)`,
  );
  // Tokens minted after the backup was taken are out there, too.
  await client.query(`select setval('${schema}.fences', nextval('${schema}.fences') + ${SKIPPED_TOKENS})`);
}

/** `insufficient_privilege`, `undefined_function`, `feature_not_supported`: how a hosted server hides its control data. */
const HIDDEN = new Set(["42501", "42883", "0A000"]);

/** `undefined` where the server does not say: then only `renewEpochs` helps. A server that does not answer is an error. */
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
