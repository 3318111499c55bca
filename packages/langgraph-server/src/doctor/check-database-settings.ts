import type pg from "pg";
import { type Finding, fail, ok, warn } from "./finding.js";

/** What an instance opens at most: 8 for reads and the registry, 8 for checkpoints, 4 for the graphs' store, 5 to commit, 2 single ones. */
const CONNECTIONS_PER_INSTANCE = 27;
/** A busy process may pause for so long inside a transaction. */
const SHORTEST_IDLE_MS = 5_000;

export async function checkWrites(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(
    "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only",
  );
  if (rows[0]?.standby) {
    return fail(
      "writes",
      "This server is a standby and takes no writes.",
      "Point LANGGRAPH_DATABASE_URL to the primary server.",
    );
  }
  if (!rows[0]?.read_only) return ok("writes", "The database takes writes.");
  return fail(
    "writes",
    "The database is read-only (default_transaction_read_only).",
    "alter database … reset default_transaction_read_only; or the same for the role",
  );
}

interface ConnectionRow {
  readonly max: number;
  readonly reserved: number;
  readonly used: number;
  /** -1: no limit. */
  readonly role_limit: number;
  readonly database_limit: number;
  readonly is_superuser: boolean;
}

/** Limits of roles and databases, and reserved connections, are not for superusers. */
export async function checkConnections(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<ConnectionRow>(
    `select current_setting('max_connections')::int as max,
            current_setting('superuser_reserved_connections')::int
              + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
            (select count(*)::int from pg_stat_activity
             where backend_type = 'client backend' and pid <> pg_backend_pid()) as used,
            r.rolconnlimit as role_limit, d.datconnlimit as database_limit, r.rolsuper as is_superuser
     from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
  );
  const [row] = rows;
  if (!row)
    return warn("connections", "The database does not tell how many it allows.", "Check max_connections.");
  const server = row.is_superuser ? row.max : row.max - row.reserved;
  const limits = row.is_superuser ? [] : [row.role_limit, row.database_limit].filter((limit) => limit >= 0);
  const allowed = Math.min(server, ...limits);
  const needed = `an instance opens up to ${CONNECTIONS_PER_INSTANCE}`;
  if (allowed < CONNECTIONS_PER_INSTANCE) {
    return fail(
      "connections",
      `The database allows ${allowed} of them; ${needed}.`,
      allowed === server
        ? "alter system set max_connections = 100, then restart PostgreSQL"
        : "alter role … connection limit -1; alter database … connection limit -1",
    );
  }
  const said = `The database allows ${allowed} of them, ${row.used} are in use; ${needed}.`;
  if (server - row.used >= CONNECTIONS_PER_INSTANCE) return ok("connections", said);
  return warn(
    "connections",
    said,
    "See what uses them: select application_name, count(*) from pg_stat_activity group by 1. Or raise max_connections.",
  );
}

export async function checkSessions(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ ms: number }>(
    "select setting::int as ms from pg_settings where name = 'idle_in_transaction_session_timeout'",
  );
  const ms = rows[0]?.ms ?? 0;
  if (ms === 0)
    return ok("sessions", "The database sets no limit for idle transactions; Throughline sets its own.");
  const said = `The database ends transactions that are idle for ${ms} ms.`;
  if (ms >= SHORTEST_IDLE_MS) return ok("sessions", said);
  return warn(
    "sessions",
    said,
    "A busy process is cut off then. Set it to 5 s or more: alter role … set idle_in_transaction_session_timeout = '15s'",
  );
}
