import pg from "pg";

/**
 * What runs leave in PostgreSQL: bytes of log and checkpoints with their indexes, before anything is compacted or trimmed, bytes of
 * its write-ahead log, and transactions.
 *
 * @param {string} databaseUrl
 * @returns {Promise<{ "log bytes": number, "checkpoint bytes": number, "WAL bytes": number, transactions: number }>}
 */
export async function readStored(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select coalesce(sum(pg_total_relation_size(c.oid)) filter (where n.nspname = 'throughline'), 0)::float8 as log,
         coalesce(sum(pg_total_relation_size(c.oid)) filter (where n.nspname = 'langgraph'), 0)::float8 as checkpoints,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
         (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and n.nspname in ('throughline', 'langgraph')`,
    );
    const [{ log, checkpoints, wal, transactions }] = rows;
    return { "log bytes": log, "checkpoint bytes": checkpoints, "WAL bytes": wal, transactions };
  } finally {
    await client.end();
  }
}
