import type { Clock } from "@throughline/ai-core";
import { inTransaction, type ThreadRef } from "@throughline/thread-log";
import type pg from "pg";
import type { ServiceObserver } from "../operations/observer.js";
import { poll } from "../operations/poller.js";
import { type AttachmentStore, type FileSweep, NO_FILES_SWEPT, type SweptFiles } from "./attachment-store.js";
import type { AttachmentFolder } from "./blobs.js";
import { deleteEmptyUsage, type FilesDatabase, keyOf, lockUsage, releaseBytes } from "./uploads.js";

interface Found {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly attachment_id: string;
  readonly content_id: string;
}

const AT_ONCE = 50;

/** Each is deleted in a transaction of its own: a crash leaves whole files, and no account is locked for long. */
export async function sweepPostgresFiles(
  { pool, schema }: FilesDatabase,
  folder: AttachmentFolder | undefined,
  { unnamedMs, stalledMs, orphanedMs }: FileSweep,
): Promise<SweptFiles> {
  const find = async (statement: string, ...values: readonly number[]) =>
    (await pool.query<Found>(statement, [...values, AT_ONCE])).rows;

  async function deleteContent(client: pg.PoolClient, thread: ThreadRef, contentId: string): Promise<void> {
    await client.query(
      `delete from ${schema}.attachment_chunks
        where account = $1 and subject = $2 and thread_id = $3 and content_id = $4`,
      [...keyOf(thread), contentId],
    );
  }

  /** `false` where it is no longer to be deleted. */
  async function deleteOne(
    found: Found,
    deleting: (client: pg.PoolClient) => Promise<pg.QueryResult<{ readonly bytes: string }>>,
  ): Promise<boolean> {
    const thread = threadOf(found);
    const isDeleted = await inTransaction(pool, async (client) => {
      await client.query(lockUsage(schema), [found.account]);
      const [row] = (await deleting(client)).rows;
      if (!row) return false;
      await deleteContent(client, thread, found.content_id);
      await client.query(releaseBytes(schema), [found.account, Number(row.bytes)]);
      await client.query(deleteEmptyUsage(schema), [found.account]);
      return true;
    });
    if (isDeleted) await folder?.delete(thread, found.content_id);
    return isDeleted;
  }

  let unnamed = 0;
  for (const found of await find(findUnnamed(schema), unnamedMs)) {
    const key = [...keyOf(threadOf(found)), found.attachment_id];
    if (await deleteOne(found, (client) => client.query(deleteUnnamed(schema), key))) unnamed += 1;
  }
  let unfinished = 0;
  for (const found of await find(findStalled(schema), stalledMs)) {
    const key = [...keyOf(threadOf(found)), found.content_id, stalledMs];
    if (await deleteOne(found, (client) => client.query(deleteStalled(schema), key))) unfinished += 1;
  }
  let orphaned = 0;
  for (const found of await find(findOrphaned(schema), orphanedMs)) {
    const key = [...keyOf(threadOf(found)), found.attachment_id];
    if (await deleteOne(found, (client) => client.query(deleteOrphaned(schema), key))) orphaned += 1;
  }
  const stray = await find(findStray(schema));
  for (const found of stray) {
    await inTransaction(pool, (client) => deleteContent(client, threadOf(found), found.content_id));
  }
  for (const { account } of await find(findMiscounted(schema))) {
    await inTransaction(pool, async (client) => {
      await client.query(ensureUsage(schema), [account]);
      await client.query(lockUsage(schema), [account]);
      await client.query(recountUsage(schema), [account]);
      await client.query(deleteEmptyUsage(schema), [account]);
    });
  }
  return { unnamed, unfinished, orphaned, stray: stray.length };
}

/** Counts the files that sweeps would delete. */
export async function countPostgresFiles(
  { pool, schema }: FilesDatabase,
  { unnamedMs, stalledMs, orphanedMs }: FileSweep,
): Promise<SweptFiles> {
  const { rows } = await pool.query<SweptFiles>(countSweepable(schema), [unnamedMs, stalledMs, orphanedMs]);
  return rows[0] ?? NO_FILES_SWEPT;
}

function threadOf({ account, subject, thread_id: threadId }: Found): ThreadRef {
  return { account, ...(subject !== "" && { subject }), threadId };
}

const HOUR_MS = 3_600_000;

/** How long a file may wait for a message that names it. */
export const DEFAULT_UNNAMED_MS = 24 * HOUR_MS;
/** Longer than any request lasts: what was not written to for so long was left by a crash. */
const STALLED_MS = HOUR_MS / 2;
const EVERY_MS = HOUR_MS;
/** Instances that live shorter than a round take part all the same. */
const FIRST_WITHIN_MS = 300_000;

export interface AttachmentSweeperOptions {
  readonly store: Pick<AttachmentStore, "sweep">;
  readonly unnamedMs: number;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "filesSwept" | "failed">;
}

export interface AttachmentSweeper {
  /** A round that begins now, or after the one that is under way. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Deletes files that belong to no message: never named, never finished, of no thread, or left over. Every instance makes its rounds. */
export function startAttachmentSweeper(options: AttachmentSweeperOptions): AttachmentSweeper {
  const { store, unnamedMs, clock, random, observer } = options;
  const { now, close } = poll({
    clock,
    random,
    everyMs: EVERY_MS,
    firstAfterMs: FIRST_WITHIN_MS * random(),
    async once(closing) {
      await sweepFiles(store, unnamedMs, { closing, onSwept: observer.filesSwept });
      return undefined;
    },
    failed: (error) => observer.failed("Files of no message could not be swept; it is tried again.", error),
  });
  return { sweep: now, close };
}

/** The limits of a sweep round. */
export function fileSweepOf(unnamedMs: number): FileSweep {
  return { unnamedMs, stalledMs: STALLED_MS, orphanedMs: unnamedMs };
}

/** Runs one round to its end. Returns the total that was deleted. */
export async function sweepFiles(
  store: Pick<AttachmentStore, "sweep">,
  unnamedMs: number,
  { closing, onSwept }: { readonly closing: AbortSignal; readonly onSwept?: (part: SweptFiles) => void },
): Promise<SweptFiles> {
  let all = NO_FILES_SWEPT;
  let found = 0;
  do {
    const part = await store.sweep(fileSweepOf(unnamedMs));
    found = part.unnamed + part.unfinished + part.orphaned + part.stray;
    onSwept?.(part);
    all = {
      unnamed: all.unnamed + part.unnamed,
      unfinished: all.unfinished + part.unfinished,
      orphaned: all.orphaned + part.orphaned,
      stray: all.stray + part.stray,
    };
  } while (found > 0 && !closing.aborted);
  return all;
}
/** Up to `$2` attachments that no message has named for `$1` milliseconds. Locks nothing: each is checked again when deleted. */
function findUnnamed(schema: string): string {
  return `select account, subject, thread_id, attachment_id, coalesce(content_id, attachment_id) as content_id
    from ${schema}.attachments
    where named_at is null and created_at < clock_timestamp() - $1 * interval '1 ms'
    order by created_at limit $2`;
}

/** Attachment `$4` of thread `$1, $2, $3`, unless a message names it by now. */
function deleteUnnamed(schema: string): string {
  return `delete from ${schema}.attachments
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and named_at is null
    returning bytes`;
}

/** Whether the attachment's thread is there: listed, or in the log and not deleted. */
function hasThread(schema: string): string {
  const same = (other: string) =>
    ["account", "subject", "thread_id"].map((key) => `${other}.${key} = file.${key}`).join(" and ");
  return `(exists (select 1 from ${schema}.thread_listings listing where ${same("listing")})
      or exists (select 1 from ${schema}.threads thread where ${same("thread")} and not thread.deleted))`;
}

/**
 * Up to `$2` attachments older than `$1` milliseconds whose thread was deleted or never began: a start that was refused stores
 * its files before. Reads every attachment's key and locks nothing: each is checked again when deleted.
 */
function findOrphaned(schema: string): string {
  return `select account, subject, thread_id, attachment_id, coalesce(content_id, attachment_id) as content_id
    from ${schema}.attachments file
    where created_at < clock_timestamp() - $1 * interval '1 ms' and not ${hasThread(schema)}
    limit $2`;
}

/** Attachment `$4` of thread `$1, $2, $3`, unless its thread is there by now. */
function deleteOrphaned(schema: string): string {
  return `delete from ${schema}.attachments file
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and not ${hasThread(schema)}
    returning bytes`;
}

/** Up to `$2` uploads to which nothing was written for `$1` milliseconds. Locks nothing: each is checked again when deleted. */
function findStalled(schema: string): string {
  return `select account, subject, thread_id, content_id from ${schema}.attachment_uploads
    where touched_at < clock_timestamp() - $1 * interval '1 ms'
    order by touched_at limit $2`;
}

/** Upload `$4` of thread `$1, $2, $3`, unless something was written within `$5` milliseconds. */
function deleteStalled(schema: string): string {
  return `delete from ${schema}.attachment_uploads
    where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
      and touched_at < clock_timestamp() - $5 * interval '1 ms'
    returning bytes`;
}

/**
 * Up to `$1` contents that neither an attachment nor an upload has: a version before this one deletes the attachment and knows
 * nothing of chunks. Reads the index of chunks and locks nothing: a content without an owner never gets one again.
 */
function findStray(schema: string): string {
  return `select account, subject, thread_id, content_id from ${schema}.attachment_chunks chunk
    where part = 0 and ${isStray(schema)}
    limit $1`;
}

function isStray(schema: string): string {
  const same = (other: string) =>
    ["account", "subject", "thread_id", "content_id"]
      .map((key) => `${other}.${key} = chunk.${key}`)
      .join(" and ");
  return `not exists (select 1 from ${schema}.attachments file where ${same("file")})
      and not exists (select 1 from ${schema}.attachment_uploads upload where ${same("upload")})`;
}

/**
 * Up to `$1` accounts whose usage is not what their attachments and uploads add up to: a version before this one counts
 * nothing.
 */
function findMiscounted(schema: string): string {
  return `select coalesce(held.account, used.account) as account
    from (
      select account, sum(bytes) as bytes from (
        select account, bytes from ${schema}.attachments
        union all select account, bytes from ${schema}.attachment_uploads
      ) files group by account
    ) held
    full join ${schema}.attachment_usage used on used.account = held.account
    where used.bytes is distinct from held.bytes
    limit $1`;
}

/** Makes sure account `$1` has a row that can be locked. */
function ensureUsage(schema: string): string {
  return `insert into ${schema}.attachment_usage (account, bytes) values ($1, 0) on conflict do nothing`;
}

/** Counts account `$1` again. Its row is locked, so nothing is reserved or given back meanwhile. */
function recountUsage(schema: string): string {
  return `update ${schema}.attachment_usage set bytes =
      (select coalesce(sum(bytes), 0) from ${schema}.attachments where account = $1)
      + (select coalesce(sum(bytes), 0) from ${schema}.attachment_uploads where account = $1)
    where account = $1`;
}

/**
 * Counts all files that `findUnnamed` (`$1`), `findStalled` (`$2`), `findOrphaned` (`$3`) and `findStray` find; a file that is
 * unnamed and orphaned counts as unnamed. Reads every attachment's key and locks nothing.
 */
function countSweepable(schema: string): string {
  const older = (column: string, ms: string) => `${column} < clock_timestamp() - ${ms} * interval '1 ms'`;
  const isUnnamed = `named_at is null and ${older("created_at", "$1::double precision")}`;
  const isOrphaned = `${older("created_at", "$3::double precision")} and not ${hasThread(schema)}`;
  return `select
    (select count(*)::int from ${schema}.attachments where ${isUnnamed}) as unnamed,
    (select count(*)::int from ${schema}.attachment_uploads
      where ${older("touched_at", "$2::double precision")}) as unfinished,
    (select count(*)::int from ${schema}.attachments file where ${isOrphaned} and not (${isUnnamed})) as orphaned,
    (select count(*)::int from ${schema}.attachment_chunks chunk where part = 0 and ${isStray(schema)}) as stray`;
}
