import { ThroughlineError, toStoreFailure } from "@throughline/ai-core";
import pg from "pg";
import { CONNECT_MS, isConnectionInDoubt, serverDeadline, withDeadline } from "./pool.js";

export interface TransactionOptions {
  /** Past this time without a statement the database ends the transaction. Default 15 s, as long as a lease usually is. */
  readonly standstillMs?: number;
  /** The deadline of each statement, where the pool's own is too short. */
  readonly statementMs?: number | undefined;
  /** How long a statement may wait for a lock. Default: as long as a statement may take. */
  readonly lockMs?: number | undefined;
}

/**
 * Commits when the work resolves, else rolls back. Fails with a `StoreOutage` when the database is away; the connection is
 * then destroyed, because a rollback over a broken connection would wait for another deadline.
 *
 * A process that is stopped in the middle (a paused machine) would hold its locks: past `standstillMs` without a statement
 * the database ends the transaction. Set here and not for the connection, where poolers refuse it.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { standstillMs = 15_000, statementMs, lockMs }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStoreFailure(error);
  });
  let failure: Error | undefined;
  // Between two statements no query is there to take an error, and one without a listener would end the process.
  const onError = (error: Error) => {
    failure = error;
  };
  client.on("error", onError);
  const settings = [`set local idle_in_transaction_session_timeout = ${standstillMs}`];
  if (statementMs !== undefined) {
    settings.push(`set local statement_timeout = ${serverDeadline(statementMs)}`);
  }
  if (lockMs !== undefined) settings.push(`set local lock_timeout = ${lockMs}`);
  try {
    await client.query(["begin", ...settings].join("; "));
    const result = await work(statementMs === undefined ? client : withDeadline(client, statementMs));
    await client.query("commit");
    return result;
  } catch (error) {
    failure ??= await rollBack(client, error);
    throw toStoreFailure(error);
  } finally {
    client.off("error", onError);
    client.release(failure);
  }
}

/** Rolls back. Returns the error that prevents the connection from being used again, if there is one. */
async function rollBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  if (isConnectionInDoubt(error)) return toError(error);
  return client.query("rollback").then(() => undefined, toError);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("The transaction failed.", { cause: error });
}

/** A pooler that others use at the same time may give two connections different sessions by chance. */
const ROUNDS = 3;

/** The session that answers: a process, and the server it belongs to, because there may be several behind one address. */
const SESSION = "select pg_backend_pid() || ' ' || pg_postmaster_start_time() as session";

/**
 * Whether a pooler in transaction mode is in between. Asked with connections of its own, because those of a pool begin with
 * settings, which a pooler would hand on to other clients.
 */
export async function isTransactionPooler(connection: pg.ClientConfig): Promise<boolean> {
  const clients = [0, 1].map(
    () => new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }),
  );
  for (const client of clients) client.on("error", () => {});
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const [one, other] = clients;
    return one !== undefined && other !== undefined && (await isSharedSession(one, other));
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/**
 * Behind a pooler in transaction mode two connections that are both open are answered by one session, or one connection by
 * several. Asks one after the other, because an idle pooler gives out the session it used last.
 */
export async function isSharedSession(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const seen = [new Set<string>(), new Set<string>()] as const;
  for (let round = 0; round < ROUNDS; round++) {
    seen[0].add(await sessionOf(one));
    seen[1].add(await sessionOf(other));
  }
  return seen[0].size > 1 || seen[1].size > 1 || [...seen[0]].some((session) => seen[1].has(session));
}

async function sessionOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ session: string }>(SESSION);
  return rows[0]?.session ?? "";
}

export function behindPooler(): ThroughlineError {
  return new ThroughlineError(
    "invalid_input",
    "The database is reached through a pooler in transaction mode. Set LANGGRAPH_DATABASE_DIRECT_URL to the address of the PostgreSQL server itself.",
    { details: { field: "LANGGRAPH_DATABASE_DIRECT_URL" } },
  );
}
