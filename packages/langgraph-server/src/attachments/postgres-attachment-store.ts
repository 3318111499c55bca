import { admitInTransaction, inTransaction, type ThreadRef } from "@throughline/thread-log";
import type pg from "pg";
import type { Attachment, AttachmentStore } from "./attachment-store.js";
import { type BlobContext, contentChunks, storedChunks } from "./blob-chunks.js";
import { type AttachmentFolder, createChunkLane } from "./blobs.js";
import { countPostgresFiles, sweepPostgresFiles } from "./file-sweep.js";
import {
  deleteEmptyUsage,
  exceededCap,
  type FilesDatabase,
  keyOf,
  lockUsage,
  openPostgresUpload,
  releaseBytes,
  reserveBytes,
} from "./uploads.js";

interface Row {
  readonly attachment_id: string;
  readonly mime_type: string;
  readonly filename: string | null;
  readonly bytes: string;
  readonly created_at: Date;
  readonly content_id: string | null;
  readonly is_named: boolean;
  /** An earlier version wrote the content into the row itself. */
  readonly is_whole: boolean;
}

const COLUMNS = `attachment_id, mime_type, filename, bytes, created_at, content_id,
  named_at is not null as is_named, content is not null as is_whole`;
/** Names the reservation of a copy. */
const COPIED = "copied";
/** Deleting and copying what may be many or large contents. */
const BULK_MS = 120_000;
const SAME_THREAD = "account = $1 and subject = $2 and thread_id = $3";

/** Rows in the database; contents next to them in chunks, or in a folder. */
export function createPostgresAttachmentStore(
  { pool, schema }: FilesDatabase,
  folder: AttachmentFolder | undefined,
): AttachmentStore {
  const table = `${schema}.attachments`;
  const lane = createChunkLane();

  async function findRow(thread: ThreadRef, id: string): Promise<Row | undefined> {
    const { rows } = await pool.query<Row>(
      `select ${COLUMNS} from ${table} where ${SAME_THREAD} and attachment_id = $4`,
      [...keyOf(thread), id],
    );
    return rows[0];
  }

  async function find(thread: ThreadRef, id: string): Promise<Attachment | undefined> {
    const row = await findRow(thread, id);
    return row && toAttachment(row);
  }

  /** Rows of attachments and uploads go first, in a short transaction; from then on nothing finds or adds to the contents. */
  async function deleteWhere(account: string, where: string, values: readonly unknown[]): Promise<number> {
    const count = await inTransaction(pool, async (client) => {
      await client.query(lockUsage(schema), [account]);
      const files = await deleteRows(client, table, where, values);
      const uploads = await deleteRows(client, `${schema}.attachment_uploads`, where, values);
      await client.query(releaseBytes(schema), [account, files.bytes + uploads.bytes]);
      await client.query(deleteEmptyUsage(schema), [account]);
      return files.count;
    });
    const deleteChunks = (client: pg.PoolClient) =>
      client.query(`delete from ${schema}.attachment_chunks where ${where}`, [...values]);
    await inTransaction(pool, deleteChunks, { statementMs: BULK_MS });
    return count;
  }

  /** The reservation, whose row is only for this transaction, becomes the copy; where the target has the file, it is given back. */
  async function copyFile(client: pg.PoolClient, row: Row, from: ThreadRef, to: ThreadRef): Promise<void> {
    const threads = [...keyOf(from), ...keyOf(to)];
    const { rowCount } = await client.query(
      `insert into ${table} (account, subject, thread_id, attachment_id, mime_type, filename, bytes, content, content_id, named_at)
       select $4, $5, $6, attachment_id, mime_type, filename, bytes, content, content_id, named_at
         from ${table} where ${SAME_THREAD} and attachment_id = $7
       on conflict do nothing`,
      [...threads, row.attachment_id],
    );
    if (rowCount === 0) await client.query(releaseBytes(schema), [to.account, Number(row.bytes)]);
    else {
      await client.query(
        `insert into ${schema}.attachment_chunks (account, subject, thread_id, content_id, part, content)
         select $4, $5, $6, content_id, part, content from ${schema}.attachment_chunks
           where ${SAME_THREAD} and content_id = $7`,
        [...threads, row.content_id],
      );
      await folder?.copy(row.content_id ?? row.attachment_id, from, to);
    }
    await client.query(`delete from ${schema}.attachment_uploads where ${SAME_THREAD} and content_id = $4`, [
      ...keyOf(to),
      COPIED,
    ]);
  }

  return {
    async begin(thread, caps) {
      return openPostgresUpload({ pool, schema, thread, caps, folder, lane, find: (id) => find(thread, id) });
    },
    find,
    async name(thread, id) {
      const row = await findRow(thread, id);
      if (!row || row.is_named) return row && toAttachment(row);
      const { rowCount } = await pool.query(nameAttachment(schema), [...keyOf(thread), id]);
      // Named or deleted in between.
      return rowCount === 0 ? find(thread, id) : toAttachment(row);
    },
    async open(thread, id) {
      const row = await findRow(thread, id);
      if (!row) return undefined;
      const blob: BlobContext = { pool, schema, lane, key: [...keyOf(thread), row.content_id ?? id] };
      const attachment = toAttachment(row);
      const whole = { start: 0, end: attachment.bytes };
      if (row.is_whole) return { attachment, read: (range = whole) => contentChunks(blob, range) };
      if (!folder) {
        if (row.content_id === null) return undefined;
        return { attachment, read: (range = whole) => storedChunks(blob, range) };
      }
      const read = await folder.read(thread, row.content_id ?? id);
      return read && { attachment, read: (range = whole) => read(range) };
    },
    async heldBytes(thread) {
      const { rows } = await pool.query<{ held: string }>(
        `select coalesce(sum(bytes), 0) as held from ${table} where ${SAME_THREAD}`,
        [...keyOf(thread)],
      );
      return Number(rows[0]?.held ?? 0);
    },
    async copyThread(from, to, caps) {
      // One after the other, so that no statement copies more than one file.
      const { rows } = await pool.query<Row>(`select ${COLUMNS} from ${table} where ${SAME_THREAD}`, [
        ...keyOf(from),
      ]);
      for (const row of rows) {
        const copy = async (client: pg.PoolClient) => {
          await admitInTransaction(client, schema, to);
          await reserveBytes(client, schema, {
            thread: to,
            contentId: COPIED,
            bytes: Number(row.bytes),
            caps,
          });
          await copyFile(client, row, from, to);
          return undefined;
        };
        const cap = await inTransaction(pool, copy, { statementMs: BULK_MS }).catch(exceededCap);
        if (cap !== undefined) return cap;
      }
      return undefined;
    },
    async deleteThread(thread) {
      const count = await deleteWhere(thread.account, SAME_THREAD, keyOf(thread));
      await folder?.deleteThread(thread);
      return count;
    },
    async deleteAccount(account, subject) {
      const where = "account = $1 and ($2::text is null or subject = $2)";
      const count = await deleteWhere(account, where, [account, subject ?? null]);
      await folder?.deleteAccount(account, subject);
      return count;
    },
    sweep: (sweep) => sweepPostgresFiles({ pool, schema }, folder, sweep),
    countSweepable: (sweep) => countPostgresFiles({ pool, schema }, sweep),
  };
}

async function deleteRows(
  client: pg.PoolClient,
  table: string,
  where: string,
  values: readonly unknown[],
): Promise<{ readonly count: number; readonly bytes: number }> {
  const { rows } = await client.query<{ count: string; bytes: string }>(
    `with gone as (delete from ${table} where ${where} returning bytes)
     select count(*) as count, coalesce(sum(bytes), 0) as bytes from gone`,
    [...values],
  );
  return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

function toAttachment(row: Row): Attachment {
  return {
    id: row.attachment_id,
    mimeType: row.mime_type,
    filename: row.filename ?? undefined,
    bytes: Number(row.bytes),
    createdAt: row.created_at.getTime(),
  };
}
/**
 * Marks attachment `$4` of thread `$1, $2, $3` as named by a message; no row where that was done, or where it is gone. Locks
 * its row, so that a sweep either finds the mark or has deleted the attachment before.
 */
function nameAttachment(schema: string): string {
  return `update ${schema}.attachments set named_at = clock_timestamp()
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and named_at is null
    returning 1`;
}
