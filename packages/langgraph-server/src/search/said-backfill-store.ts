import { type PostgresDatabase, subjectKey, type ThreadRef } from "@throughline/thread-log";
import { claimBackfill } from "./sql/claim-backfill.js";
import { listBackfill } from "./sql/list-backfill.js";

/** A thread that began before messages were indexed. */
export interface OldThread {
  readonly thread: ThreadRef;
  readonly graphId: string;
  /** Milliseconds since the Unix epoch. */
  readonly lastActivityAt: number;
}

/** How far the messages of old threads are indexed. Survives restarts; one instance at a time goes on with it. */
export interface SaidBackfillStore {
  /** The next threads, none where all are done; `undefined` while another instance has them. */
  next(limit: number): Promise<readonly OldThread[] | undefined>;
  /** All up to this thread are indexed; without one, all there are. */
  finish(last: ThreadRef | undefined): Promise<void>;
}

/** An instance that dies is followed by another after this time. */
const CLAIM_MS = 60_000;

interface Position {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly created_before: Date;
}

interface Row extends Omit<Position, "created_before"> {
  readonly graph_id: string;
  readonly last_activity_at: Date;
}

export function createSaidBackfillStore({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): SaidBackfillStore {
  const table = `${schema}.said_backfill`;
  return {
    async next(limit) {
      const { rows: claimed } = await pool.query<Position>(claimBackfill(schema), [CLAIM_MS]);
      const [at] = claimed;
      if (!at) {
        const { rowCount } = await pool.query(`select from ${table} where not is_done`);
        return rowCount === 0 ? [] : undefined;
      }
      const position = [at.account, at.subject, at.thread_id, at.created_before];
      const { rows } = await pool.query<Row>(listBackfill(schema), [...position, limit]);
      return rows.map((row) => ({
        thread: {
          account: row.account,
          ...(row.subject !== "" && { subject: row.subject }),
          threadId: row.thread_id,
        },
        graphId: row.graph_id,
        lastActivityAt: row.last_activity_at.getTime(),
      }));
    },
    async finish(last) {
      // Once done it names no account.
      if (!last)
        await pool.query(
          `update ${table} set is_done = true, account = '', subject = '', thread_id = '', claimed_until = null`,
        );
      else
        await pool.query(
          `update ${table} set account = $1, subject = $2, thread_id = $3, claimed_until = null`,
          [last.account, subjectKey(last), last.threadId],
        );
    },
  };
}
