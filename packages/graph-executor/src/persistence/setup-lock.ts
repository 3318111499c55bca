import type pg from "pg";

const SETUP_LOCK = 8_217_003_641;

/** Instances start together, and LangGraph's own migrations take no lock: the second would fail on what the first made. */
export async function underSetupLock(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [SETUP_LOCK]);
    await work();
  } finally {
    // Ends the session, and the lock with it, whatever state it is in.
    client.release(true);
  }
}
