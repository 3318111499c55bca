import { randomUUID } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";
import {
  admitInTransaction,
  inTransaction,
  type PostgresDatabase,
  subjectKey,
  type ThreadRef,
} from "@throughline/thread-log";
import type pg from "pg";
import type { Attachment, FinishedFile, StorageCaps, Upload } from "./attachment-store.js";
import type { AttachmentFolder, ChunkLane, FileWriter } from "./blobs.js";

export type FilesDatabase = Pick<PostgresDatabase, "pool" | "schema">;

export interface UploadContext extends FilesDatabase {
  readonly thread: ThreadRef;
  readonly caps: StorageCaps;
  readonly folder: AttachmentFolder | undefined;
  readonly lane: ChunkLane;
  readonly find: (id: string) => Promise<Attachment | undefined>;
}

/** Account, subject and thread: the beginning of every key. */
export function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}

/** One upload. Its row in `attachment_uploads` is there from the first reservation to its end, and protects it from sweeps. */
export function openPostgresUpload(context: UploadContext): Upload {
  const { pool, schema, thread, caps, folder, lane, find } = context;
  const contentId = randomUUID();
  const key = [...keyOf(thread), contentId];
  let writer: FileWriter | undefined;
  let parts = 0;
  let written = 0;

  async function expectUpload(answer: Promise<pg.QueryResult>): Promise<void> {
    if ((await answer).rowCount === 0) throw gone();
  }

  /** Removes the row of the upload and its reservation except `keep` bytes. */
  async function close(client: pg.PoolClient, keep: number): Promise<boolean> {
    const { rows } = await client.query<{ bytes: string }>(
      `delete from ${schema}.attachment_uploads
        where account = $1 and subject = $2 and thread_id = $3 and content_id = $4 returning bytes`,
      key,
    );
    if (!rows[0]) return false;
    await client.query(releaseBytes(schema), [thread.account, Number(rows[0].bytes) - keep]);
    await client.query(deleteEmptyUsage(schema), [thread.account]);
    return true;
  }

  async function deleteContent(client: pg.PoolClient): Promise<void> {
    await client.query(
      `delete from ${schema}.attachment_chunks
        where account = $1 and subject = $2 and thread_id = $3 and content_id = $4`,
      key,
    );
  }

  async function abandon(): Promise<void> {
    await writer?.close();
    await inTransaction(pool, async (client) => {
      await client.query(lockUsage(schema), [thread.account]);
      await close(client, 0);
      await deleteContent(client);
    });
    await folder?.delete(thread, contentId);
  }

  return {
    async reserve(bytes) {
      return inTransaction(pool, async (client) => {
        await admitInTransaction(client, schema, thread);
        return reserveBytes(client, schema, { thread, contentId, bytes, caps });
      }).catch(exceededCap);
    },
    async write(chunk) {
      if (!folder) {
        await expectUpload(lane(() => pool.query(writeChunk(schema), [...key, parts, chunk])));
      } else {
        await expectUpload(pool.query(touchUpload(schema), key));
        writer ??= await folder.create(thread, contentId);
        await writer.write(chunk);
      }
      parts += 1;
      written += chunk.byteLength;
    },
    async finish(file) {
      await writer?.finish();
      const isNew = await inTransaction(pool, async (client) => {
        await admitInTransaction(client, schema, thread);
        await client.query(lockUsage(schema), [thread.account]);
        const { rowCount } = await insertAttachment(client, file);
        const isInserted = rowCount === 1;
        if (!(await close(client, isInserted ? written : 0))) throw gone();
        if (!isInserted) await deleteContent(client);
        return isInserted;
      });
      if (!isNew) await folder?.delete(thread, contentId);
      const made = await find(file.id);
      // Deleted between the two statements: what was sent is gone again, as the rest of its thread.
      return made ?? { ...file, bytes: written, createdAt: 0 };
    },
    abandon,
  };

  function insertAttachment(client: pg.PoolClient, { id, mimeType, filename, isNamed }: FinishedFile) {
    return client.query(
      `insert into ${schema}.attachments
         (account, subject, thread_id, content_id, attachment_id, mime_type, filename, bytes, named_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, case when $9 then clock_timestamp() end)
       on conflict do nothing`,
      [...key, id, mimeType, filename ?? null, written, isNamed],
    );
  }
}

interface Reservation {
  readonly thread: ThreadRef;
  readonly contentId: string;
  readonly bytes: number;
  readonly caps: StorageCaps;
}

/** Rolls the transaction back where a cap is in the way: wrap it with `exceededCap`. */
export async function reserveBytes(
  client: pg.PoolClient,
  schema: string,
  { thread, contentId, bytes, caps }: Reservation,
): Promise<undefined> {
  const { maxAttachmentBytesPerAccount: ofAccount, maxAttachmentBytesPerThread: ofThread } = caps;
  const account = await client.query(reserveOfAccount(schema), [thread.account, bytes, ofAccount]);
  if (bytes > ofAccount || account.rowCount === 0) throw new CapExceeded("maxAttachmentBytesPerAccount");
  const upload = await client.query(reserveOfThread(schema), [...keyOf(thread), contentId, bytes, ofThread]);
  if (upload.rowCount === 0) throw new CapExceeded("maxAttachmentBytesPerThread");
  return undefined;
}

class CapExceeded extends Error {
  readonly cap: keyof StorageCaps;

  constructor(cap: keyof StorageCaps) {
    super(cap);
    this.cap = cap;
  }
}

export function exceededCap(error: unknown): keyof StorageCaps {
  if (error instanceof CapExceeded) return error.cap;
  throw error;
}

/** A deletion of its thread, or a sweep that took it for dead, was first. */
function gone(): ThroughlineError {
  return new ThroughlineError(
    "conflict",
    "The upload was ended: its thread was deleted, or it stood still for too long.",
  );
}
/**
 * Takes `$2` more bytes of account `$1`, unless that makes more than `$3`; no row then. Locks the account's row until the
 * transaction ends, so that uploads of one account reserve in turn and `reserveOfThread` sees every one before it. The first
 * row of an account is inserted unchecked: compare `$2` with `$3` before.
 */
function reserveOfAccount(schema: string): string {
  return `insert into ${schema}.attachment_usage as held (account, bytes) values ($1, $2)
    on conflict (account) do update set bytes = held.bytes + excluded.bytes
      where held.bytes + excluded.bytes <= $3
    returning 1`;
}

/**
 * Takes `$5` more bytes for upload `$4` of thread `$1, $2, $3`, unless the thread then holds more than `$6`; no row then.
 * Exact because the caller holds the account's row (`reserveOfAccount`): no other upload of the thread reserves meanwhile.
 */
function reserveOfThread(schema: string): string {
  const ofThread = "account = $1 and subject = $2 and thread_id = $3";
  return `insert into ${schema}.attachment_uploads as upload (account, subject, thread_id, content_id, bytes)
    select $1, $2, $3, $4, $5::bigint
      where $5::bigint + (select coalesce(sum(bytes), 0) from ${schema}.attachments where ${ofThread})
        + (select coalesce(sum(bytes), 0) from ${schema}.attachment_uploads where ${ofThread}) <= $6
    on conflict (account, subject, thread_id, content_id) do update
      set bytes = upload.bytes + excluded.bytes, touched_at = clock_timestamp()
    returning 1`;
}

/** Locks the account's row before anything else of it is changed: all take it first, so none waits for another in a circle. */
export function lockUsage(schema: string): string {
  return `select 1 from ${schema}.attachment_usage where account = $1 for update`;
}

/** Gives `$2` bytes of account `$1` back. Its row is locked already, or no other transaction has it. */
export function releaseBytes(schema: string): string {
  return `update ${schema}.attachment_usage set bytes = bytes - $2 where account = $1`;
}

/** An account that stores nothing leaves no row. */
export function deleteEmptyUsage(schema: string): string {
  return `delete from ${schema}.attachment_usage where account = $1 and bytes <= 0`;
}
/**
 * Writes part `$5` of upload `$4` of thread `$1, $2, $3`; no row where the upload is gone. Locks the upload's row, so that a
 * deletion either comes first, and nothing is written, or deletes this chunk, too.
 *
 * The commit does not wait for the disk: `finish` does, and with it everything written before. A chunk that a crash of the
 * database loses belongs to an upload that never finished.
 */
function writeChunk(schema: string): string {
  return `with quick as (
      select set_config('synchronous_commit', 'off', true)
    ), touched as (
      update ${schema}.attachment_uploads set touched_at = clock_timestamp() from quick
        where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
        returning 1
    )
    insert into ${schema}.attachment_chunks (account, subject, thread_id, content_id, part, content)
      select $1, $2, $3, $4, $5, $6 from touched
      returning 1`;
}

/** The same for a file in a folder: the upload is alive; no row where it is gone. */
function touchUpload(schema: string): string {
  return `update ${schema}.attachment_uploads set touched_at = clock_timestamp()
    where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
    returning 1`;
}
