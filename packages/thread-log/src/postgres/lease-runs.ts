import type { Fence } from "@throughline/ai-core";
import type { Lease, LeasedRun } from "../port/run-record.js";
import type { BadRow } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { finishRuns } from "./finish-runs.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { fenceOf, keyOf, type LeasedRow, toLeased } from "./run-rows.js";
import { claimExpiredStatement, claimQueuedStatement, releaseStatement } from "./sql/lease-runs.js";

/** Outer joined: without a claim there is one row, which says whether a run could have been claimed. */
type CandidateRow = { readonly candidate: boolean } & (LeasedRow | { readonly run_id: null });

function leasedIn(rows: readonly CandidateRow[]): readonly LeasedRow[] {
  return rows.flatMap((row) => (row.run_id === null ? [] : [row]));
}

export async function claimNextRun(
  database: PostgresDatabase,
  thread: ThreadRef,
  { owner, leaseMs }: Lease,
  onBadRow: (row: BadRow) => void,
): Promise<LeasedRun | undefined> {
  const { pool, schema } = database;
  const text = claimQueuedStatement(schema, { ofThread: true });
  for (;;) {
    const { rows } = await pool.query<CandidateRow>(text, [owner, leaseMs, ...keyOf(thread)]);
    const leased = leasedIn(rows);
    // The thread changed between the snapshot and its lock, so the candidate may not be one any more.
    if (leased.length === 0 && rows[0]?.candidate) continue;
    const [claimed] = await readClaims(database, leased, onBadRow);
    // A bad run that is out of the way makes room for the one behind it.
    if (claimed || leased.length === 0) return claimed;
  }
}

export async function claimQueuedRuns(
  database: PostgresDatabase,
  { owner, leaseMs }: Lease,
  limit: number,
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const { pool, schema } = database;
  const text = claimQueuedStatement(schema, { ofThread: false });
  const { rows } = await pool.query<CandidateRow>(text, [owner, leaseMs, limit]);
  return readClaims(database, leasedIn(rows), onBadRow);
}

export async function claimExpiredRuns(
  database: PostgresDatabase,
  { owner, leaseMs }: Lease,
  limit: number,
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const { pool, schema } = database;
  const { rows } = await pool.query<LeasedRow>(claimExpiredStatement(schema), [owner, leaseMs, limit]);
  return readClaims(database, rows, onBadRow);
}

export async function releaseRun(
  { pool, schema, tellReleased }: PostgresDatabase,
  { runId, token }: Fence,
  isFresh: boolean,
): Promise<void> {
  await pool.query(releaseStatement(schema), [runId, token.toString(), isFresh]);
  tellReleased();
}

/** A run that can't be read can't be driven either: it ends as an error, and those that were claimed with it go on. */
async function readClaims(
  database: PostgresDatabase,
  rows: readonly LeasedRow[],
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const bad: Fence[] = [];
  const claimed = rows.flatMap((row) => {
    try {
      return [toLeased(row)];
    } catch (error) {
      onBadRow({ table: "runs", id: row.run_id, error });
      bad.push(fenceOf(row));
      return [];
    }
  });
  if (bad.length > 0) {
    const finishes = bad.map(({ runId, token }) => ({
      runId,
      token,
      status: "error" as const,
      keepsInterrupts: true,
    }));
    // Not ended now, it is claimed again when this lease runs out: the others must not wait for that.
    await finishRuns(database, finishes).catch((error: unknown) => {
      for (const { runId } of bad) onBadRow({ table: "runs", id: runId, error });
    });
  }
  return claimed;
}
