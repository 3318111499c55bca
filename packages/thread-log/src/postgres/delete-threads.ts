import type pg from "pg";
import type { ThreadRef } from "../port/thread-ref.js";
import { wakeTag } from "../port/wake-tag.js";
import { BULK_MS } from "./deadlines.js";
import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";

export interface DeleteScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
  readonly threadId?: string;
}

interface DeletedThread {
  readonly log_id: string;
  readonly subject: string;
  readonly thread_id: string;
}

/**
 * Tombstones with a new epoch and a new fence, and nothing left below them. Two statements, because the second must see what
 * an append committed while the first waited for its lock.
 */
export async function deleteThreads(database: PostgresDatabase, scope: DeleteScope): Promise<number> {
  const { pool, schema, channel } = database;
  const deleteAll = async (client: pg.PoolClient): Promise<string[]> => {
    const { rows } = await client.query<DeletedThread>(
      `with living as (
         select log_id from ${schema}.threads
         where account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3)
           and not deleted and fence > 0
         order by log_id for update
       )
       update ${schema}.threads t
       set epoch = replace(gen_random_uuid()::text, '-', ''), fence = greatest(t.fence + 1, nextval('${schema}.fences')),
         deleted = true, head = 0, floor = 1, last_append = null, held_bytes = 0, snapshot_seq = 0, unfolded_bytes = 0,
         compacted = 0, state_key = ''
       from living where t.log_id = living.log_id
       returning t.log_id, t.subject, t.thread_id`,
      [scope.account, scope.subject ?? null, scope.threadId ?? null],
    );
    if (rows.length === 0) return [];
    const logs = rows.map(({ log_id }) => log_id);
    await client.query(`delete from ${schema}.log_entries where log_id = any($1)`, [logs]);
    await client.query(`delete from ${schema}.entry_templates where log_id = any($1)`, [logs]);
    await client.query(`delete from ${schema}.snapshots where log_id = any($1)`, [logs]);
    const wokenTags = rows.map((row) => wakeTag(refOf(scope.account, row)));
    await client.query("select pg_notify($1, $2)", [
      channel,
      database.payload({ kind: "threads", tags: wokenTags }),
    ]);
    return wokenTags;
  };
  const tags = await inTransaction(pool, deleteAll, { statementMs: BULK_MS });
  if (tags.length > 0) database.tellOwn({ kind: "threads", tags });
  return tags.length;
}

function refOf(account: string, row: DeletedThread): ThreadRef {
  return { account, subject: row.subject === "" ? undefined : row.subject, threadId: row.thread_id };
}
