import { toStoreFailure } from "@throughline/ai-core";
import type pg from "pg";
import { isConnectionInDoubt, serverDeadline, withDeadline } from "./deadlines.js";

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
 * A process that is stopped in the middle (a paused machine) would keep its locks: past `standstillMs` without a statement
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

/** What keeps the connection from being used again, if anything does. */
async function rollBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  if (isConnectionInDoubt(error)) return toError(error);
  return client.query("rollback").then(() => undefined, toError);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("The transaction failed.", { cause: error });
}
