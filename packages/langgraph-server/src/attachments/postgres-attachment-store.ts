import {
  admitInTransaction,
  inTransaction,
  type PostgresDatabase,
  subjectKey,
  type ThreadRef,
} from "@throughline/thread-log";
import type { AttachmentFolder } from "./attachment-folder.js";
import type { Attachment, AttachmentStore } from "./attachment-store.js";

interface Row {
  readonly attachment_id: string;
  readonly mime_type: string;
  readonly filename: string | null;
  readonly bytes: string;
  readonly created_at: Date;
}

const COLUMNS = "attachment_id, mime_type, filename, bytes, created_at";
const SAME_THREAD = "account = $1 and subject = $2 and thread_id = $3";

/** Rows in the database; contents beside them, or in a folder. */
export function createPostgresAttachmentStore(
  { pool, schema }: PostgresDatabase,
  folder: AttachmentFolder | undefined,
): AttachmentStore {
  const table = `${schema}.attachments`;

  async function find(thread: ThreadRef, id: string): Promise<Attachment | undefined> {
    const { rows } = await pool.query<Row>(
      `select ${COLUMNS} from ${table} where ${SAME_THREAD} and attachment_id = $4`,
      [...keyOf(thread), id],
    );
    return rows[0] && toAttachment(rows[0]);
  }

  return {
    async put(thread, { id, mimeType, filename, content }) {
      const there = await find(thread, id);
      if (there) return there;
      await inTransaction(pool, async (client) => {
        await admitInTransaction(client, schema, thread);
        await folder?.write(thread, id, content);
        await client.query(
          `insert into ${table} (account, subject, thread_id, attachment_id, mime_type, filename, bytes, content)
           values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
          [...keyOf(thread), id, mimeType, filename ?? null, content.byteLength, folder ? null : content],
        );
      });
      const made = await find(thread, id);
      // Deleted between the two statements: what was sent is gone again, as the rest of its thread.
      return made ?? { id, mimeType, filename, bytes: content.byteLength, createdAt: 0 };
    },
    find,
    async read(thread, id) {
      const { rows } = await pool.query<{ content: Buffer | null }>(
        `select content from ${table} where ${SAME_THREAD} and attachment_id = $4`,
        [...keyOf(thread), id],
      );
      if (!rows[0]) return undefined;
      return rows[0].content ?? folder?.read(thread, id);
    },
    async heldBytes(thread) {
      const { rows } = await pool.query<{ held: string }>(
        `select coalesce(sum(bytes), 0) as held from ${table} where ${SAME_THREAD}`,
        [...keyOf(thread)],
      );
      return Number(rows[0]?.held ?? 0);
    },
    async copyThread(from, to) {
      await inTransaction(pool, async (client) => {
        await admitInTransaction(client, schema, to);
        await folder?.copyThread(from, to);
        await client.query(
          `insert into ${table} (account, subject, thread_id, attachment_id, mime_type, filename, bytes, content)
           select $4, $5, $6, attachment_id, mime_type, filename, bytes, content from ${table} where ${SAME_THREAD}
           on conflict do nothing`,
          [...keyOf(from), ...keyOf(to)],
        );
      });
    },
    async deleteThread(thread) {
      const { rowCount } = await pool.query(`delete from ${table} where ${SAME_THREAD}`, [...keyOf(thread)]);
      await folder?.deleteThread(thread);
      return rowCount ?? 0;
    },
    async deleteAccount(account, subject) {
      const { rowCount } = await pool.query(
        `delete from ${table} where account = $1 and ($2::text is null or subject = $2)`,
        [account, subject ?? null],
      );
      await folder?.deleteAccount(account, subject);
      return rowCount ?? 0;
    },
  };
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

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
