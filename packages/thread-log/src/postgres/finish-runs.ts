import type pg from "pg";
import { statusAfter } from "../directory/thread-directory.js";
import type { RegistryStatus } from "../port/run-record.js";
import type { Finish, FinishResult } from "../port/run-registry.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { finishStatement, nextStatement } from "./sql/finish-runs.js";

export interface RunFinish extends Finish {
  readonly runId: string;
  readonly token: bigint;
  /** The run never ran: questions that are open stay so. */
  readonly keepsInterrupts?: boolean;
}

/** What a statement tells of a run it finished; `ord` is its place in the batch, from 1. */
export interface FinishedRow {
  readonly ord: number;
  readonly next: string | null;
  /** `next` may be out of date. */
  readonly raced: boolean;
}

/** One statement for all of them, and another only where a run was not held, or its thread changed at the same moment. */
export async function finishRuns(
  { pool, schema }: PostgresDatabase,
  finishes: readonly RunFinish[],
): Promise<readonly FinishResult[]> {
  const [ords, ids] = openInterrupts(finishes);
  const { rows } = await pool.query<FinishedRow>({
    name: `${schema}_finish`,
    text: finishStatement(schema),
    values: [
      finishes.map(({ runId }) => runId),
      finishes.map(({ token }) => token.toString()),
      finishes.map(({ status }) => status),
      finishes.map(statusAfter),
      finishes.map(({ upstreamRunId }) => upstreamRunId ?? null),
      finishes.map(({ keepsInterrupts }) => !keepsInterrupts),
      ords,
      ids,
    ],
  });
  const finished = new Map(rows.map((row) => [row.ord - 1, row]));
  const unsure = finishes.filter((_, index) => finished.get(index)?.raced ?? true);
  const now = await findNext(
    pool,
    schema,
    unsure.map(({ runId }) => runId),
  );
  return finishes.map(({ runId }, index): FinishResult => {
    const row = finished.get(index);
    const later = now.get(runId);
    if (!row) return { ok: false, reason: later?.status === "running" ? "fenced" : "ended" };
    return { ok: true, next: (row.raced ? later?.next : row.next) ?? undefined };
  });
}

/** Each once, as the two arrays that the statements take: place in the batch, id. */
export function openInterrupts(
  finishes: readonly (Finish | undefined)[],
): readonly [ords: readonly number[], ids: readonly string[]] {
  const open = finishes.flatMap((finish, index) =>
    [...new Set(finish?.interrupts)].map((id) => ({ ord: index + 1, id })),
  );
  return [open.map(({ ord }) => ord), open.map(({ id }) => id)];
}

interface NextRow {
  readonly run_id: string;
  readonly status: RegistryStatus;
  readonly next: string | null;
}

export async function findNext(
  queries: Pick<pg.Pool, "query">,
  schema: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, NextRow>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await queries.query<NextRow>(nextStatement(schema), [runIds]);
  return new Map(rows.map((row) => [row.run_id, row]));
}
