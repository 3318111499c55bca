import { randomUUID } from "node:crypto";
import {
  closeScope,
  inTransaction,
  lockAccount,
  openScope,
  type PostgresDatabase,
} from "@throughline/thread-log";
import type pg from "pg";
import { z } from "zod";
import {
  addCounts,
  type ClaimedDeletion,
  type Deletion,
  type DeletionPhase,
  type DeletionStore,
  isClosedIn,
  type ListedThread,
  NOTHING_DELETED,
  threadHash,
} from "./deletion.js";

interface Row {
  readonly deletion_id: string;
  readonly account: string;
  readonly subject: string | null;
  readonly thread_id: string | null;
  readonly thread_hash: string | null;
  readonly asked_by: string;
  readonly phase: string;
  readonly listed: boolean;
  readonly attempt: number;
  readonly counts: string;
  readonly requested_at: Date;
  readonly erased_at: Date | null;
  readonly finished_at: Date | null;
}

/** Phases as the table's first version spells them: instances of that version may still run next to this one. */
const STORED: Readonly<Record<DeletionPhase, string>> = {
  deleting: "erasing",
  deleted: "erased",
  sweeping: "sweeping",
  done: "done",
};

function phaseOf(stored: string): DeletionPhase {
  switch (stored) {
    case "erasing":
      return "deleting";
    case "erased":
      return "deleted";
    case "sweeping":
    case "done":
      return stored;
    default:
      throw new Error("A deletion is in a phase that this version does not know.");
  }
}

const COLUMNS = `deletion_id, account, subject, thread_id, thread_hash, asked_by, phase, listed, attempt, counts,
  requested_at, erased_at, finished_at`;
const IN = (parameter: string) =>
  `clock_timestamp() + ${parameter}::double precision * interval '1 millisecond'`;
/** Matches a held claim. A completed deletion has none: a renewal that waited for the last step's lock would make it due again. */
const HELD = "deletion_id = $1 and attempt = $2 and phase <> 'done'";

const countsSchema = z.object({
  threads: z.number(),
  attachments: z.number(),
  storeItems: z.number(),
  crons: z.number(),
});

/** While a deletion deletes or sweeps, its scope is closed in the transaction that moves it (`closeScope`). */
export function createPostgresDeletionStore({ pool, schema }: PostgresDatabase): DeletionStore {
  const table = `${schema}.deletions`;
  const threads = `${schema}.deletion_threads`;

  async function change(
    queries: pg.Pool | pg.PoolClient,
    { deletion, attempt }: ClaimedDeletion,
    set: string,
    ...values: readonly unknown[]
  ): Promise<boolean> {
    const { rowCount } = await queries.query(`update ${table} set ${set} where ${HELD}`, [
      deletion.id,
      attempt,
      ...values,
    ]);
    return rowCount === 1;
  }

  async function write(
    queries: pg.Pool | pg.PoolClient,
    deletionId: string,
    listed: readonly ListedThread[],
  ): Promise<void> {
    await queries.query(
      `insert into ${threads} (deletion_id, subject, thread_id, graph_id)
       select $1, subject, thread_id, graph_id from unnest($2::text[], $3::text[], $4::text[]) as t (subject, thread_id, graph_id)
       on conflict do nothing`,
      [
        deletionId,
        listed.map(({ thread }) => thread.subject ?? ""),
        listed.map(({ thread }) => thread.threadId),
        listed.map(({ graphId }) => graphId),
      ],
    );
  }

  return {
    begin: ({ scope, graphId, askedBy }) =>
      inTransaction(pool, async (client) => {
        const { account, subject, threadId } = scope;
        await lockAccount(client, account);
        const { rows: same } = await client.query<Row>(
          `select ${COLUMNS} from ${table} where account = $1 and phase = 'erasing'
             and subject is not distinct from $2 and thread_id is not distinct from $3`,
          [account, subject ?? null, threadId ?? null],
        );
        if (same[0]) return toDeletion(same[0]);
        const isThread = threadId !== undefined;
        const { rows } = await client.query<Row>(
          `insert into ${table} (deletion_id, account, subject, thread_id, thread_hash, asked_by, phase, listed, due_at, counts)
           values ($1, $2, $3, $4, $5, $6, 'erasing', $7, clock_timestamp(), $8) returning ${COLUMNS}`,
          [
            randomUUID(),
            account,
            subject ?? null,
            threadId ?? null,
            isThread ? threadHash(threadId) : null,
            askedBy,
            isThread,
            JSON.stringify(NOTHING_DELETED),
          ],
        );
        if (!rows[0]) throw new Error("an insert gives back its row");
        if (isThread && graphId !== undefined) {
          await write(client, rows[0].deletion_id, [{ thread: { account, subject, threadId }, graphId }]);
        }
        await closeScope(client, schema, rows[0].deletion_id, scope);
        return toDeletion(rows[0]);
      }),
    async find(id) {
      const { rows } = await pool.query<Row>(`select ${COLUMNS} from ${table} where deletion_id = $1`, [id]);
      return rows[0] && toDeletion(rows[0]);
    },
    async claim(leaseMs, except = []) {
      const { rows } = await pool.query<Row>(claimDeletion(schema, COLUMNS), [leaseMs, except]);
      return rows[0] && toClaimed(rows[0]);
    },
    renew: (claimed, leaseMs) => change(pool, claimed, `due_at = ${IN("$3")}`, leaseMs),
    list: (claimed, listed, isComplete) =>
      inTransaction(pool, async (client) => {
        const isHeld = await change(client, claimed, "listed = $3", isComplete);
        if (isHeld) await write(client, claimed.deletion.id, listed);
        return isHeld;
      }),
    async remaining({ deletion }, limit) {
      const { rows } = await pool.query<{ subject: string; thread_id: string; graph_id: string }>(
        `select subject, thread_id, graph_id from ${threads} where deletion_id = $1 and not checked_off
         order by subject, thread_id limit $2`,
        [deletion.id, limit],
      );
      return rows.map(({ subject, thread_id, graph_id }) => ({
        thread: { account: deletion.account, ...(subject !== "" && { subject }), threadId: thread_id },
        graphId: graph_id,
      }));
    },
    async checkOff({ deletion, attempt }, listed) {
      const { rowCount } = await pool.query(
        `with held as (
           select deletion_id from ${table} where ${HELD}
         ), off as (
           update ${threads} t set checked_off = true
           from held, unnest($3::text[], $4::text[]) as l (subject, thread_id)
           where t.deletion_id = held.deletion_id and t.subject = l.subject and t.thread_id = l.thread_id
         )
         select 1 from held`,
        [
          deletion.id,
          attempt,
          listed.map(({ thread }) => thread.subject ?? ""),
          listed.map(({ thread }) => thread.threadId),
        ],
      );
      return rowCount === 1;
    },
    count: (claimed, counts) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query<Row>(`select ${COLUMNS} from ${table} where ${HELD} for update`, [
          claimed.deletion.id,
          claimed.attempt,
        ]);
        if (!rows[0]) return false;
        const sum = addCounts(toDeletion(rows[0]).counts, counts);
        return change(client, claimed, "counts = $3", JSON.stringify(sum));
      }),
    move: (claimed, phase, dueInMs) =>
      inTransaction(pool, async (client) => {
        const { id, account } = claimed.deletion;
        await lockAccount(client, account);
        const isDone = phase === "done";
        const isHeld = await change(
          client,
          claimed,
          `phase = $3, due_at = case when $4 then null else ${IN("$5")} end,
           erased_at = case when $3 = 'erased' then clock_timestamp() else erased_at end,
           finished_at = case when $4 then clock_timestamp() end,
           thread_id = case when $4 then null else thread_id end`,
          STORED[phase],
          isDone,
          dueInMs,
        );
        if (!isHeld) return false;
        if (isClosedIn(phase)) await closeScope(client, schema, id, claimed.scope);
        else await openScope(client, schema, id);
        await client.query(
          isDone
            ? `delete from ${threads} where deletion_id = $1`
            : `update ${threads} set checked_off = false where deletion_id = $1`,
          [id],
        );
        return true;
      }),
    postpone: (claimed, ms) => change(pool, claimed, `due_at = ${IN("$3")}`, ms),
    async countReceipts(olderThanMs) {
      const { rows } = await pool.query<{ count: number }>(countReceipts(schema), [olderThanMs]);
      return rows[0]?.count ?? 0;
    },
    async deleteReceipts(olderThanMs, limit) {
      const { rowCount } = await pool.query(deleteReceipts(schema), [olderThanMs, limit]);
      return rowCount ?? 0;
    },
    async untilDue(except = []) {
      const { rows } = await pool.query<{ ms: string | null }>(
        `select extract(epoch from min(due_at) - clock_timestamp()) * 1000 as ms from ${table}
         where due_at is not null and account <> all($1)`,
        [except],
      );
      const ms = rows[0]?.ms ?? null;
      return ms === null ? undefined : Math.max(0, Number(ms));
    },
  };
}

function toDeletion(row: Row): Deletion {
  return {
    id: row.deletion_id,
    account: row.account,
    subject: row.subject ?? undefined,
    threadHash: row.thread_hash ?? undefined,
    askedBy: row.asked_by,
    phase: phaseOf(row.phase),
    requestedAt: row.requested_at.getTime(),
    deletedAt: row.erased_at?.getTime(),
    finishedAt: row.finished_at?.getTime(),
    counts: countsSchema.parse(JSON.parse(row.counts)),
  };
}

function toClaimed(row: Row): ClaimedDeletion {
  const { account, subject, thread_id } = row;
  return {
    deletion: toDeletion(row),
    scope: { account, subject: subject ?? undefined, ...(thread_id !== null && { threadId: thread_id }) },
    attempt: row.attempt,
    isListed: row.listed,
  };
}
/**
 * Claims one deletion that is due, for $1 milliseconds: of the account that was served the longest ago, so that many deletions
 * of one account delay no other's first. Accounts in $2 are passed over. Locks the row it claims and skips rows that others
 * are claiming.
 */
function claimDeletion(schema: string, columns: string): string {
  const table = `${schema}.deletions`;
  return `
update ${table} set attempt = attempt + 1, claimed_at = clock_timestamp(),
  due_at = clock_timestamp() + $1::double precision * interval '1 millisecond'
where deletion_id = (
  select d.deletion_id from ${table} d
  join (
    select account, (select max(s.claimed_at) from ${table} s where s.account = waiting.account) as served_at
    from (select distinct account from ${table} where due_at <= clock_timestamp() and account <> all($2)) waiting
  ) turn on turn.account = d.account
  where d.due_at <= clock_timestamp()
  order by turn.served_at nulls first, d.due_at
  limit 1 for update of d skip locked)
returning ${columns}`;
}
const OLD =
  "phase = 'done' and finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'";

/**
 * Deletes at most $2 receipts of deletions that were done more than $1 milliseconds ago. Skips rows that another instance
 * deletes. Materialized: joined to the rows it deletes, the limit would be evaluated again for each of them in some plans.
 */
function deleteReceipts(schema: string): string {
  return `
with past as materialized (
  select deletion_id from ${schema}.deletions where ${OLD} order by finished_at limit $2 for update skip locked)
delete from ${schema}.deletions deletion using past where deletion.deletion_id = past.deletion_id`;
}

/** Counts prunable receipts. Locks nothing. */
function countReceipts(schema: string): string {
  return `select count(*)::int as count from ${schema}.deletions where ${OLD}`;
}
