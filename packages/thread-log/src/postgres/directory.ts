import {
  type ForkOrigin,
  foldCase,
  formatListingToken,
  parseListingToken,
  searchText,
  type ThreadDirectory,
  type ThreadListing,
  type ThreadStatus,
} from "../thread-directory.js";
import { subjectKey, type ThreadRef } from "../thread-ref.js";
import type { PostgresDatabase } from "./database.js";
import { keyOf, SAME_THREAD } from "./registry/run-rows.js";

interface Row {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly thread_name: string;
  readonly title: string | null;
  readonly derived_title: string | null;
  readonly archived: boolean;
  readonly forked_from: string | null;
  readonly model: string | null;
  readonly status: ThreadStatus;
  readonly last_run_id: string;
  readonly token: string;
  readonly created_at: Date;
  readonly last_activity_at: Date;
}

export function createPostgresThreadDirectory({ pool, schema }: PostgresDatabase): ThreadDirectory {
  const table = `${schema}.thread_listings`;

  async function find(thread: ThreadRef): Promise<ThreadListing | undefined> {
    const { rows } = await pool.query<Row>(`select ${LISTING_COLUMNS} from ${table} where ${SAME_THREAD}`, [
      ...keyOf(thread),
    ]);
    return rows[0] && toListing(rows[0]);
  }

  return {
    async list(scope, query) {
      const after = query.after === undefined ? undefined : parseListingToken(query.after);
      const { rows } = await pool.query<Row>(
        listListings(schema, scope.withShared ? "own and shared" : "one or all"),
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
    async change(thread, { title, isArchived, model, forkedFrom }) {
      const before = await find(thread);
      if (!before) return undefined;
      // What a title is derived from never changes once it is there, so it may be read before the update.
      const { rows } = await pool.query<Row>(
        `update ${table} set
           title = case when $4 then $5 else title end,
           search_text = case when not $4 then search_text when $5::text is null then $7 else $6 end,
           archived = coalesce($8, archived),
           model = case when $9 then $10 else model end,
           forked_from = coalesce($11, forked_from)
         where ${SAME_THREAD} returning ${LISTING_COLUMNS}`,
        [
          ...keyOf(thread),
          title !== undefined,
          title ?? null,
          searchText(title ?? undefined, before.threadName),
          searchText(before.derivedTitle, before.threadName),
          isArchived ?? null,
          model !== undefined,
          model ?? null,
          forkedFrom === undefined ? null : JSON.stringify(forkedFrom),
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
    forkedFrom: row.forked_from === null ? undefined : parseOrigin(row.forked_from),
    model: row.model ?? undefined,
    status: row.status,
    lastRunId: row.last_run_id,
    token: BigInt(row.token),
    createdAt: row.created_at.getTime(),
    lastActivityAt: row.last_activity_at.getTime(),
  };
}

/** Only `change` of this directory writes it. What can't be read is as good as not there. */
function parseOrigin(text: string): ForkOrigin | undefined {
  try {
    return JSON.parse(text) as ForkOrigin;
  } catch {
    return undefined;
  }
}
const LISTING_COLUMNS = `account, subject, thread_id, graph_id, thread_name, title, derived_title, archived,
  forked_from, model, status, last_run_id, token, created_at, last_activity_at`;

/**
 * A page of listings, newest activity first. Locks nothing. Sent without a name, so that it is planned with its values: one
 * subject's rows then come in order from `thread_listings_newest`, those of two are sorted, and what waits for people comes from
 * `thread_listings_waiting`, which holds nothing else.
 */
export function listListings(schema: string, whose: "one or all" | "own and shared"): string {
  const ofSubject =
    whose === "own and shared" ? "subject = any($2::text[])" : "($2::text is null or subject = $2)";
  return `
select ${LISTING_COLUMNS} from ${schema}.thread_listings
where account = $1 and ${ofSubject}
  and ($3::text is null or graph_id = $3) and ($4::text is null or status = $4)
  and ($5::boolean is null or archived = $5) and position($6 in search_text) > 0
  and ($7::timestamptz is null or (last_activity_at, subject, thread_id) < ($7, $8::text, $9::text))
order by last_activity_at desc, subject desc, thread_id desc limit $10`;
}
