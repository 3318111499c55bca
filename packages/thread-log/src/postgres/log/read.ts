import type { Json } from "@throughline/ai-core";
import type pg from "pg";
import type { LoadRequest, RangeRequest, StoredRange, StoredThread } from "../../log/log-store.js";
import type { PageOptions, ThreadPage } from "../../log/thread-log.js";
import { formatPageToken, pageLimit, parsePageToken } from "../../thread-directory.js";
import { subjectKey, type ThreadRef, type ThreadScope } from "../../thread-ref.js";
import { continuedAt } from "../connection/restore.js";
import type { PostgresDatabase } from "../database.js";
import { type EntryPage, entryPage, parseEntryPage, resumeAt } from "./entry-templates.js";

/**
 * Any number of ranges in one statement, so that row and entries are of one moment; one row for each. Each costs two index
 * descents and its own entries; one of a foreign epoch costs no entries.
 */
export function readStatement(schema: string): string {
  return `
select r.ord::int, t.epoch, t.head, t.floor, t.compacted, t.deleted, page.lines, used.templates,
  ${resumeAt(schema, "r.after_seq")} as resume_at, ${continuedAt("r.epoch")} as continued_at
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  with ordinality as r (account, subject, thread_id, epoch, after_seq, ord)
join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
${entryPage(schema, { where: "seq > r.after_seq and (r.epoch is null or r.epoch = t.epoch)", limit: "$6" })}`;
}

export interface ReadRow extends EntryPage {
  readonly ord: number;
  readonly epoch: string;
  readonly head: string;
  readonly floor: string;
  readonly compacted: string;
  readonly deleted: boolean;
  readonly resume_at: string | null;
  readonly continued_at: string | null;
}

export function readQuery(
  text: string,
  name: string,
  requests: readonly RangeRequest[],
  limit: number,
): pg.QueryConfig {
  return {
    name,
    text,
    values: [
      requests.map(({ thread }) => thread.account),
      requests.map(({ thread }) => subjectKey(thread)),
      requests.map(({ thread }) => thread.threadId),
      requests.map(({ epoch }) => epoch ?? null),
      requests.map(({ afterSeq }) => afterSeq),
      limit,
    ],
  };
}

export function readResults(count: number, rows: readonly ReadRow[]): (StoredRange | undefined)[] {
  const ranges: (StoredRange | undefined)[] = new Array(count).fill(undefined);
  for (const row of rows) {
    ranges[row.ord - 1] = {
      epoch: row.epoch,
      head: Number(row.head),
      floor: Number(row.floor),
      compacted: Number(row.compacted),
      deleted: row.deleted,
      entries: parseEntryPage(row),
      ...(row.resume_at !== null && { resumeAt: Number(row.resume_at) }),
      ...(row.continued_at !== null && { continuedAt: Number(row.continued_at) }),
    };
  }
  return ranges;
}

interface LoadedRow extends EntryPage {
  readonly epoch: string;
  readonly head: string;
  readonly floor: string;
  readonly compacted: string;
  readonly deleted: boolean;
  readonly snapshot_seq: string | null;
  readonly fold_version: number | null;
  readonly state: string | null;
}

export async function loadThread(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  { foldVersions, returnsTo, shortlyBefore, limit }: LoadRequest,
): Promise<StoredThread | undefined> {
  const { rows } = await pool.query<LoadedRow>({
    name: `${schema}_load`,
    text: loadStatement(schema),
    values: [
      thread.account,
      subjectKey(thread),
      thread.threadId,
      foldVersions,
      returnsTo ?? null,
      shortlyBefore,
      limit,
    ],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { epoch, deleted } = row;
  return {
    epoch,
    head: Number(row.head),
    floor: Number(row.floor),
    compacted: Number(row.compacted),
    deleted,
    entries: parseEntryPage(row),
    snapshot:
      row.state === null
        ? undefined
        : {
            position: { epoch, seq: Number(row.snapshot_seq) },
            foldVersion: row.fold_version ?? 0,
            // Written by this package alone; a fold decides by its version whether it can read it.
            state: JSON.parse(row.state) as Json,
          },
  };
}

/**
 * A thread's row, the snapshot to begin from and the entries after it, as of one snapshot of the database; locks nothing. One
 * row, because joined to every entry the snapshot's state would travel as often as there are entries. Parameters: the thread,
 * the fold's versions that can be read, the position a reader returns to (or null), how shortly before the newest snapshot that must be to begin
 * from an older one, and the most entries to read.
 */
function loadStatement(schema: string): string {
  const snapshotSeq = (bound: string) => `
    select seq, fold_version from ${schema}.snapshots
    where log_id = t.log_id and fold_version = any($4::int[]) and seq + 1 >= t.floor ${bound}
    order by seq desc, fold_version desc limit 1`;
  return `
select t.epoch, t.head, t.floor, t.compacted, t.deleted, s.seq as snapshot_seq, s.fold_version, s.state, page.lines,
  used.templates
from ${schema}.threads t
left join lateral (${snapshotSeq("")}) newest on true
left join lateral (${snapshotSeq("and seq < $5::bigint")}) earlier on newest.seq - $5::bigint between 0 and $6::int
left join ${schema}.snapshots s
  on s.log_id = t.log_id and s.seq = coalesce(earlier.seq, newest.seq)
    and s.fold_version = coalesce(earlier.fold_version, newest.fold_version)
${entryPage(schema, { where: "seq > coalesce(s.seq, 0)", limit: "$7" })}
where t.account = $1 and t.subject = $2 and t.thread_id = $3`;
}

interface ThreadRow {
  readonly subject: string;
  readonly thread_id: string;
  readonly state_key: string;
  readonly epoch: string;
  readonly head: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Lists threads in order of the primary key: an index on when a thread last changed would be touched by every append. */
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
