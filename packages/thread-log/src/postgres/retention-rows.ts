import type pg from "pg";
import type { ThreadRef } from "../port/thread-ref.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf } from "./run-rows.js";
import { lockThreadStatement, openRunStatement } from "./sql/idle-thread.js";
import { deleteUnstartedStatement, everyThreadStatement, measureStatement } from "./sql/retention.js";

/** Keeps runs from starting in the thread until the transaction ends. `false` where one is open, or is just starting. */
export async function lockIdleThread(
  client: Pick<pg.ClientBase, "query">,
  schema: string,
  thread: ThreadRef,
): Promise<boolean> {
  const locked = await client.query(lockThreadStatement(schema), [...keyOf(thread)]);
  if (locked.rowCount === 0) return false;
  const open = await client.query(openRunStatement(schema), [...keyOf(thread)]);
  return open.rowCount === 0;
}

export interface EveryThreadPage {
  readonly threads: readonly ThreadRef[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** Threads of all accounts, for rounds over everything. */
export async function everyThread(
  { pool, schema }: PostgresDatabase,
  { after = "0", limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<EveryThreadPage> {
  const { rows } = await pool.query<{
    log_id: string;
    account: string;
    subject: string;
    thread_id: string;
  }>(everyThreadStatement(schema), [after, limit]);
  return {
    threads: rows.map(({ account, subject, thread_id }) => ({
      account,
      ...(subject !== "" && { subject }),
      threadId: thread_id,
    })),
    next: rows.length < limit ? undefined : rows.at(-1)?.log_id,
  };
}

/** Deletes rows of threads in which nothing ever started: a stop of an unknown run leaves one. Gives how many. */
export async function deleteUnstartedThreads(
  { pool, schema }: PostgresDatabase,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(deleteUnstartedStatement(schema), [limit]);
  return rowCount ?? 0;
}

/** What a round of retention would delete, by kind. */
export interface RetainedRows {
  readonly threads: number;
  readonly runs: number;
  readonly entries: number;
  readonly entryBytes: number;
}

export async function measureRetention(
  { pool, schema }: PostgresDatabase,
  maxAgeMs: number | undefined,
): Promise<RetainedRows> {
  const { rows } = await pool.query<{ threads: number; runs: number; entries: number; bytes: string }>(
    measureStatement(schema),
    [maxAgeMs ?? null],
  );
  const [row] = rows;
  if (!row) throw new Error("a count gives a row");
  return { threads: row.threads, runs: row.runs, entries: row.entries, entryBytes: Number(row.bytes) };
}
