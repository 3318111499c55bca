import { inTransaction, type ThreadRef } from "@throughline/thread-log";
import type pg from "pg";
import type { AttachmentFolder } from "./attachment-folder.js";
import { type FileSweep, NO_FILES_SWEPT, type SweptFiles } from "./attachment-store.js";
import { type FilesDatabase, keyOf } from "./postgres-upload.js";
import { deleteEmptyUsage, lockUsage, releaseBytes } from "./sql/reserve-bytes.js";
import {
  countSweepable,
  deleteOrphaned,
  deleteStalled,
  deleteUnnamed,
  ensureUsage,
  findMiscounted,
  findOrphaned,
  findStalled,
  findStray,
  findUnnamed,
  recountUsage,
} from "./sql/sweep-files.js";

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

/** What sweeps would delete. */
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
