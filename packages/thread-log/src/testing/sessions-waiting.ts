import type pg from "pg";
import { expect } from "vitest";
import { eventually } from "../conformance/eventually.js";

/**
 * Resolves once so many sessions of the database wait for a lock. Not to be asked on a connection that holds the lock: within a
 * transaction the answer does not change.
 */
export async function sessionsWaiting(pool: pg.Pool, count: number): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    expect(rowCount).toBe(count);
  });
}
