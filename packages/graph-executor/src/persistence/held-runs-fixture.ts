import { type Fence, type LeasePort, ThroughlineError } from "@throughline/ai-core";
import type pg from "pg";

/** For tests: a minimal registry of runs, and the query that checks whether a fence is held in it. */
export const heldQuery: NonNullable<LeasePort["heldQuery"]> = (first) =>
  `select 1 from registry.runs r
   where r.run_id = $${first} and r.fence = $${first + 1} and r.status = 'running' for share of r`;

/** A lease port that must not be called: the database checks the fence itself. */
export const neverAsked: LeasePort = {
  async assertHeld() {
    throw new ThroughlineError("internal", "The lease was asked for in a round trip of its own.");
  },
};

export async function setUpRuns(pool: pg.Pool): Promise<void> {
  await pool.query(`
    select pg_advisory_lock(1);
    create schema if not exists registry;
    create table if not exists registry.runs (run_id text primary key, fence bigint, status text);
    select pg_advisory_unlock(1)`);
}

/** Gives the run to the holder of this fence. */
export async function putRun(pool: Pick<pg.Pool, "query">, { runId, token }: Fence): Promise<void> {
  await pool.query(
    `insert into registry.runs values ($1, $2, 'running') on conflict (run_id) do update set fence = $2`,
    [runId, String(token)],
  );
}
