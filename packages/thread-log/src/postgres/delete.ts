import type pg from "pg";
import {
  beingDeleted,
  type DeletedScope,
  type LogScope,
  subjectKey,
  type ThreadRef,
  threadTag,
} from "../thread-ref.js";
import { BULK_MS } from "./connection/pool.js";
import { inTransaction } from "./connection/transaction.js";
import type { PostgresDatabase } from "./database.js";
import { askToStop } from "./registry/stop.js";

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
    const wokenTags = rows.map((row) => threadTag(refOf(scope.account, row)));
    await client.query("select pg_notify($1, $2)", [
      channel,
      database.payload({ kind: "threads", tags: wokenTags }),
    ]);
    return wokenTags;
  };
  const tags = await inTransaction(pool, deleteAll, { statementMs: BULK_MS });
  if (tags.length > 0) database.notifySelf({ kind: "threads", tags });
  return tags.length;
}

function refOf(account: string, row: DeletedThread): ThreadRef {
  return { account, subject: row.subject === "" ? undefined : row.subject, threadId: row.thread_id };
}

/**
 * Deletes the runs of all threads at once; `threadId` narrows it to one. Returns the runs that were asked to stop. A run past
 * its lease has no driver that would end it: the fence refuses its driver, should that ever come back.
 */
export async function deleteRuns(
  database: PostgresDatabase,
  scope: { readonly account: string; readonly subject: string | undefined; readonly threadId?: string },
): Promise<readonly string[]> {
  const { pool, schema } = database;
  const where =
    "account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3)";
  const key = [scope.account, scope.subject ?? null, scope.threadId ?? null];
  const stopping = await inTransaction(pool, async (client) => {
    await client.query(
      `with locked as (select log_id from ${schema}.threads where ${where} order by log_id for update)
       update ${schema}.threads t set revision = t.revision + 1,
         fence = case when t.fence > 0 then greatest(t.fence + 1, nextval('${schema}.fences')) else 0 end
       from locked where t.log_id = locked.log_id`,
      key,
    );
    await client.query(
      `delete from ${schema}.runs where ${where} and (status <> 'running' or lease_until < clock_timestamp())`,
      key,
    );
    await client.query(`delete from ${schema}.interrupts where ${where}`, key);
    await client.query(`delete from ${schema}.stops where ${where}`, key);
    const { rows } = await client.query<{ run_id: string }>(
      // Those that are left. In the order in which others lock several.
      `select run_id from ${schema}.runs where ${where} order by run_id`,
      key,
    );
    for (const { run_id } of rows) await askToStop(client, database, run_id);
    return rows.map(({ run_id }) => run_id);
  });
  for (const runId of stopping) database.notifySelf({ kind: "stop", runId });
  return stopping;
}

// A transaction that creates something in an account holds the account's lock shared until it commits; one that closes a part
// of the account holds it alone. So a deletion sees all that began before it, and all that begins after sees the closure.

/** Admits a write that a deletion would have to find: call it first in the transaction that writes. Throws `beingDeleted`. */
export async function admitInTransaction(
  client: pg.ClientBase,
  schema: string,
  { account, threadId, ...scope }: LogScope,
): Promise<void> {
  await client.query("select pg_advisory_xact_lock_shared(hashtext('throughline deletions'), hashtext($1))", [
    account,
  ]);
  // A statement of its own: what it sees must be no older than the lock.
  const { rowCount } = await client.query(
    `select 1 from ${schema}.closures where account = $1
       and (subject is null or subject = $2) and (thread_id is null or thread_id = $3) limit 1`,
    [account, subjectKey(scope), threadId ?? null],
  );
  if (rowCount !== 0) throw beingDeleted();
}

/** Waits for everything that is being created in the account, and blocks the rest until the transaction ends. */
export async function lockAccount(client: pg.ClientBase, account: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtext('throughline deletions'), hashtext($1))", [
    account,
  ]);
}

/** Closes a scope: from the commit on nothing may start in it, until `openScope`. Safe to repeat under the same id. */
export async function closeScope(
  client: pg.ClientBase,
  schema: string,
  id: string,
  { account, subject, threadId }: DeletedScope,
): Promise<void> {
  await lockAccount(client, account);
  await client.query(
    `insert into ${schema}.closures (closure_id, account, subject, thread_id) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [id, account, subject ?? null, threadId ?? null],
  );
}

export async function openScope(client: pg.ClientBase, schema: string, id: string): Promise<void> {
  await client.query(`delete from ${schema}.closures where closure_id = $1`, [id]);
}
