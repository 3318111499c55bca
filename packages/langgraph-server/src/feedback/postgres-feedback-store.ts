import { randomUUID } from "node:crypto";
import { type PostgresDatabase, subjectKey, type ThreadScope } from "@throughline/thread-log";
import type { Feedback, FeedbackStore, FeedbackValue } from "./feedback-store.js";
import { listFeedback } from "./sql/list-feedback.js";
import { moveFeedback } from "./sql/move-feedback.js";
import { putFeedback } from "./sql/put-feedback.js";

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
