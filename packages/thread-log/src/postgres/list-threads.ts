import { formatPageToken, pageLimit, parsePageToken } from "../port/page-token.js";
import type { PageOptions, ThreadPage } from "../port/thread-log.js";
import { subjectKey, type ThreadRef, type ThreadScope } from "../port/thread-ref.js";
import type { PostgresDatabase } from "./open-postgres.js";

interface ThreadRow {
  readonly subject: string;
  readonly thread_id: string;
  readonly state_key: string;
  readonly epoch: string;
  readonly head: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** In order of the primary key: an index on when a thread last changed would be touched by every append. */
export async function listThreads(
  { pool, schema }: PostgresDatabase,
  scope: ThreadScope,
  page: PageOptions,
): Promise<ThreadPage> {
  const limit = pageLimit(page.limit);
  const after = page.after === undefined ? undefined : parsePageToken(page.after);
  const { rows } = await pool.query<ThreadRow>(
    `select subject, thread_id, state_key, epoch, head, created_at, updated_at from ${schema}.threads
     where account = $1 and ($2::text is null or subject = $2) and not deleted and fence > 0
       and ($3::text is null or (subject, thread_id) > ($3, $4::text))
     order by subject, thread_id limit $5`,
    [
      scope.account,
      scope.everySubject ? null : subjectKey(scope),
      after?.subject ?? null,
      after?.threadId ?? null,
      limit + 1,
    ],
  );
  const threads = rows.slice(0, limit).map((row) => ({
    thread: refOf(scope.account, row),
    stateKey: row.state_key,
    head: { epoch: row.epoch, seq: Number(row.head) },
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  }));
  const last = threads.at(-1);
  return { threads, next: rows.length > limit && last ? formatPageToken(last.thread) : undefined };
}

function refOf(account: string, row: ThreadRow): ThreadRef {
  return { account, ...(row.subject === "" ? {} : { subject: row.subject }), threadId: row.thread_id };
}
