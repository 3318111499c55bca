import { ThroughlineError } from "@throughline/ai-core";
import type pg from "pg";

/** As long as a lease usually is. */
const STANDSTILL_MS = 15_000;

/**
 * Commits when the work resolves, else rolls back; a connection in doubt is not given back to the pool. A process that is
 * stopped in the middle (a paused machine) would keep its locks, and with them a thread, from everybody: past `standstillMs`
 * without a statement the database ends the transaction. Set here and not for the connection, where poolers refuse it.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { standstillMs = STANDSTILL_MS }: { readonly standstillMs?: number } = {},
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw isTimeout(error) ? tooBusy(error) : error;
  });
  let failure: Error | undefined;
  // Between two statements nobody waits for an answer, and an error without a listener would end the process.
  const onError = (error: Error) => {
    failure = error;
  };
  client.on("error", onError);
  try {
    await client.query(`begin; set local idle_in_transaction_session_timeout = ${standstillMs}`);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((cause: unknown) => {
      failure = cause instanceof Error ? cause : new Error("rollback failed");
    });
    throw error;
  } finally {
    client.off("error", onError);
    client.release(failure);
  }
}

/** Of waiting for a connection, of making one: `pg` has no codes for them. */
const TIMEOUTS = ["timeout exceeded when trying to connect", "timeout expired"];

function isTimeout(error: unknown): boolean {
  return error instanceof Error && TIMEOUTS.includes(error.message);
}

function tooBusy(cause: unknown): ThroughlineError {
  return new ThroughlineError(
    "upstream_unavailable",
    "The database is too busy to take more at once. Try again in a moment.",
    { cause },
  );
}
