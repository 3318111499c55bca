import { randomUUID } from "node:crypto";
import { type PostgresDatabase, subjectKey, type ThreadRef, type ThreadScope } from "@throughline/thread-log";

export const FEEDBACK_VALUES = ["up", "down"] as const;
type FeedbackValue = (typeof FEEDBACK_VALUES)[number];

/** One person's feedback on one message. */
export interface Feedback {
  readonly id: string;
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  readonly messageId: string;
  /** The run that brought the message, where the person's client knew it. */
  readonly runId: string | undefined;
  /** Its author; `undefined` for a caller who is no person. */
  readonly author: string | undefined;
  readonly value: FeedbackValue;
  readonly note: string | undefined;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewFeedback = Pick<Feedback, "thread" | "messageId" | "runId" | "author" | "value" | "note">;

export interface FeedbackPosition {
  readonly at: number;
  readonly id: string;
}

export interface FeedbackQuery {
  /** Only feedback of this thread. */
  readonly threadId?: string | undefined;
  readonly graphId?: string | undefined;
  readonly value?: FeedbackValue | undefined;
  /** Given by one person only; the empty one is a caller who is no person. */
  readonly author?: string | undefined;
  /** Changed at this time or later. */
  readonly since?: number | undefined;
  readonly after?: FeedbackPosition | undefined;
  readonly limit: number;
}

export interface FeedbackPage {
  /** Last changed first. */
  readonly feedback: readonly Feedback[];
  readonly next: FeedbackPosition | undefined;
}

/** Stores feedback, with one row for each person and message. */
export interface FeedbackStore {
  /** Replaces the person's earlier feedback on the message. `undefined` where there is no such thread. */
  put(feedback: NewFeedback): Promise<Feedback | undefined>;
  /** `false` where there was none. */
  remove(thread: ThreadRef, messageId: string, author: string | undefined): Promise<boolean>;
  list(scope: ThreadScope, query: FeedbackQuery): Promise<FeedbackPage>;
  /** Moves feedback on these messages to the thread that this one became. */
  moveThread(from: ThreadRef, to: ThreadRef, messageIds: readonly string[]): Promise<void>;
  /** To be called when the thread is no longer listed, so that nothing is put after it. */
  deleteThread(thread: ThreadRef): Promise<void>;
  /** Also deletes the subject's feedback on other people's messages. */
  deleteAccount(account: string, subject?: string): Promise<void>;
}

interface Row {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly message_id: string;
  readonly author: string;
  readonly feedback_id: string;
  readonly graph_id: string;
  readonly thread_name: string;
  readonly run_id: string | null;
  readonly value: FeedbackValue;
  readonly note: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function createPostgresFeedbackStore({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): FeedbackStore {
  const table = `${schema}.feedback`;
  return {
    async put({ thread, messageId, author, runId, value, note }) {
      const { rows } = await pool.query<Row>(putFeedback(schema), [
        thread.account,
        subjectKey(thread),
        thread.threadId,
        messageId,
        author ?? "",
        randomUUID(),
        runId ?? null,
        value,
        note ?? null,
      ]);
      return rows[0] && toFeedback(rows[0]);
    },
    async remove(thread, messageId, author) {
      const { rowCount } = await pool.query(
        `delete from ${table}
         where account = $1 and subject = $2 and thread_id = $3 and message_id = $4 and author = $5`,
        [thread.account, subjectKey(thread), thread.threadId, messageId, author ?? ""],
      );
      return rowCount === 1;
    },
    async list(scope, { threadId, graphId, value, author, since, after, limit }) {
      const { rows } = await pool.query<Row>(listFeedback(schema), [
        scope.account,
        subjectsOf(scope),
        threadId ?? null,
        graphId ?? null,
        value ?? null,
        author ?? null,
        since === undefined ? null : new Date(since),
        after ? new Date(after.at) : null,
        after?.id ?? null,
        limit + 1,
      ]);
      const page = rows.slice(0, limit).map(toFeedback);
      const last = page.at(-1);
      const next = rows.length > limit && last ? { at: last.updatedAt, id: last.id } : undefined;
      return { feedback: page, next };
    },
    async moveThread(from, to, messageIds) {
      await pool.query(moveFeedback(schema), [
        from.account,
        subjectKey(from),
        from.threadId,
        subjectKey(to),
        to.threadId,
        messageIds,
      ]);
    },
    async deleteThread(thread) {
      await pool.query(`delete from ${table} where account = $1 and subject = $2 and thread_id = $3`, [
        thread.account,
        subjectKey(thread),
        thread.threadId,
      ]);
    },
    async deleteAccount(account, subject) {
      await pool.query(
        `delete from ${table} where account = $1 and ($2::text is null or subject = $2 or (author = $2 and author <> ''))`,
        [account, subject ?? null],
      );
    },
  };
}

/** `null`: of every thread of the account. */
function subjectsOf(scope: ThreadScope): readonly string[] | null {
  if (scope.everySubject) return null;
  return scope.withShared ? [subjectKey(scope), ""] : [subjectKey(scope)];
}

function toFeedback(row: Row): Feedback {
  return {
    id: row.feedback_id,
    thread: {
      account: row.account,
      ...(row.subject !== "" && { subject: row.subject }),
      threadId: row.thread_id,
    },
    graphId: row.graph_id,
    threadName: row.thread_name,
    messageId: row.message_id,
    runId: row.run_id ?? undefined,
    author: row.author === "" ? undefined : row.author,
    value: row.value,
    note: row.note ?? undefined,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}
/**
 * A page of an account's feedback, what was changed last first. Locks nothing. Sent without a name, so that it is planned with its
 * values: by `feedback_of_author` where an author is named, by the primary key where a thread is, else by `feedback_newest`.
 */
function listFeedback(schema: string): string {
  return `
select * from ${schema}.feedback
where account = $1 and ($2::text[] is null or subject = any($2)) and ($3::text is null or thread_id = $3)
  and ($4::text is null or graph_id = $4) and ($5::text is null or value = $5) and ($6::text is null or author = $6)
  and ($7::timestamptz is null or updated_at >= $7)
  and ($8::timestamptz is null or (updated_at, feedback_id) < ($8, $9::text))
order by updated_at desc, feedback_id desc limit $10`;
}
/**
 * Gives feedback on these messages of a thread to the thread that it became. Locks the key of the new thread's listing, so that a
 * deletion, which deletes the listing first, waits for the rows and then finds them, and the rows themselves.
 */
function moveFeedback(schema: string): string {
  return `
with here as (
  select thread_name from ${schema}.thread_listings
  where account = $1 and subject = $4 and thread_id = $5 for key share
)
update ${schema}.feedback f set subject = $4, thread_id = $5, thread_name = here.thread_name
from here
where f.account = $1 and f.subject = $2 and f.thread_id = $3 and f.message_id = any($6::text[])`;
}
/**
 * Upserts one person's feedback on a message. Locks the key of the thread's listing, so that a deletion, which deletes the listing
 * first, waits for the row and then finds it; a thread that is not listed gets none.
 */
function putFeedback(schema: string): string {
  return `
with here as (
  select graph_id, thread_name from ${schema}.thread_listings
  where account = $1 and subject = $2 and thread_id = $3 for key share
), moment as (
  select date_trunc('milliseconds', clock_timestamp()) as now
)
insert into ${schema}.feedback as f (account, subject, thread_id, message_id, author, feedback_id, graph_id, thread_name,
  run_id, value, note, created_at, updated_at)
select $1, $2, $3, $4, $5, $6, here.graph_id, here.thread_name, $7, $8, $9, moment.now, moment.now from here, moment
on conflict (account, subject, thread_id, message_id, author) do update
set run_id = coalesce(excluded.run_id, f.run_id), value = excluded.value, note = excluded.note,
  updated_at = excluded.updated_at
returning *`;
}
