import { formatListingToken, parseListingToken } from "../directory/listing-page.js";
import { foldCase, searchText } from "../directory/search-text.js";
import type { ThreadDirectory, ThreadListing, ThreadStatus } from "../directory/thread-directory.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf } from "./run-rows.js";
import { SAME_THREAD } from "./sql/fragments.js";

interface Row {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly thread_name: string;
  readonly title: string | null;
  readonly derived_title: string | null;
  readonly archived: boolean;
  readonly status: ThreadStatus;
  readonly last_run_id: string;
  readonly token: string;
  readonly created_at: Date;
  readonly last_activity_at: Date;
}

const COLUMNS = `account, subject, thread_id, graph_id, thread_name, title, derived_title, archived, status, last_run_id,
  token, created_at, last_activity_at`;

export function createPostgresThreadDirectory({ pool, schema }: PostgresDatabase): ThreadDirectory {
  const table = `${schema}.thread_listings`;

  async function find(thread: ThreadRef): Promise<ThreadListing | undefined> {
    const { rows } = await pool.query<Row>(`select ${COLUMNS} from ${table} where ${SAME_THREAD}`, [
      ...keyOf(thread),
    ]);
    return rows[0] && toListing(rows[0]);
  }

  return {
    async list(scope, query) {
      const after = query.after === undefined ? undefined : parseListingToken(query.after);
      // One subject's rows come in order from the index; rows of two have to be sorted.
      const whose = scope.withShared ? "subject = any($2::text[])" : "($2::text is null or subject = $2)";
      const { rows } = await pool.query<Row>(
        `select ${COLUMNS} from ${table}
         where account = $1 and ${whose}
           and ($3::text is null or graph_id = $3) and ($4::text is null or status = $4)
           and ($5::boolean is null or archived = $5) and position($6 in search_text) > 0
           and ($7::timestamptz is null or (last_activity_at, subject, thread_id) < ($7, $8::text, $9::text))
         order by last_activity_at desc, subject desc, thread_id desc limit $10`,
        [
          scope.account,
          scope.everySubject ? null : scope.withShared ? [subjectKey(scope), ""] : subjectKey(scope),
          query.graphId ?? null,
          query.status ?? null,
          query.isArchived ?? null,
          query.search === undefined ? "" : foldCase(query.search),
          after ? new Date(after.lastActivityAt) : null,
          after?.subject ?? null,
          after?.threadId ?? null,
          query.limit + 1,
        ],
      );
      const threads = rows.slice(0, query.limit);
      const last = threads.at(-1);
      const next =
        rows.length > query.limit && last
          ? formatListingToken({
              lastActivityAt: last.last_activity_at.getTime(),
              subject: last.subject,
              threadId: last.thread_id,
            })
          : undefined;
      return { threads: threads.map(toListing), next };
    },
    find,
    async change(thread, { title, isArchived }) {
      const before = await find(thread);
      if (!before) return undefined;
      // What a title is derived from never changes once it is there, so it may be read before the update.
      const { rows } = await pool.query<Row>(
        `update ${table} set
           title = case when $4 then $5 else title end,
           search_text = case when not $4 then search_text when $5::text is null then $7 else $6 end,
           archived = coalesce($8, archived)
         where ${SAME_THREAD} returning ${COLUMNS}`,
        [
          ...keyOf(thread),
          title !== undefined,
          title ?? null,
          searchText(title ?? undefined, before.threadName),
          searchText(before.derivedTitle, before.threadName),
          isArchived ?? null,
        ],
      );
      return rows[0] && toListing(rows[0]);
    },
    async deleteThread(thread) {
      await pool.query(`delete from ${table} where ${SAME_THREAD}`, [...keyOf(thread)]);
    },
    async deleteAccount(account, subject) {
      await pool.query(`delete from ${table} where account = $1 and ($2::text is null or subject = $2)`, [
        account,
        subject ?? null,
      ]);
    },
  };
}

function toListing(row: Row): ThreadListing {
  return {
    thread: {
      account: row.account,
      ...(row.subject !== "" && { subject: row.subject }),
      threadId: row.thread_id,
    },
    graphId: row.graph_id,
    threadName: row.thread_name,
    title: row.title ?? row.derived_title ?? undefined,
    derivedTitle: row.derived_title ?? undefined,
    isTitledByPerson: row.title !== null,
    isArchived: row.archived,
    status: row.status,
    lastRunId: row.last_run_id,
    token: BigInt(row.token),
    createdAt: row.created_at.getTime(),
    lastActivityAt: row.last_activity_at.getTime(),
  };
}
