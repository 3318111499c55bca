import type { CompactionStore } from "../port/log-store.js";
import { pageLimit } from "../port/page-token.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import { type EntryPage, parseEntryPage } from "./entry-page.js";
import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";
import {
  compactableStatement,
  compactStatement,
  lockForCompactionStatement,
  tidyTemplatesStatement,
  uncompactedStatement,
} from "./sql/compact-thread.js";

interface UncompactedRow extends EntryPage {
  readonly epoch: string;
  readonly floor: string;
  readonly compacted: string;
  readonly ends_at: string;
  readonly snapshots: readonly string[] | null;
}

export function createPostgresCompaction({ pool, schema }: PostgresDatabase): CompactionStore {
  return {
    async compactable(olderThanMs, { after, limit }) {
      const size = pageLimit(limit);
      const { rows } = await pool.query<{
        log_id: string;
        account: string;
        subject: string;
        thread_id: string;
      }>(compactableStatement(schema), [olderThanMs, after ?? "0", size + 1]);
      const found = rows.slice(0, size);
      return {
        threads: found.map(({ account, subject, thread_id }) => ({
          account,
          ...(subject === "" ? {} : { subject }),
          threadId: thread_id,
        })),
        next: rows.length > size ? found.at(-1)?.log_id : undefined,
      };
    },
    async uncompacted(thread, olderThanMs, limit) {
      const { rows } = await pool.query<UncompactedRow>(uncompactedStatement(schema), [
        ...keyOf(thread),
        olderThanMs,
        limit,
      ]);
      const [row] = rows;
      return (
        row && {
          epoch: row.epoch,
          floor: Number(row.floor),
          compacted: Number(row.compacted),
          entries: parseEntryPage(row),
          end: Number(row.ends_at),
          snapshots: row.snapshots?.map(Number) ?? [],
        }
      );
    },
    compact: (thread, { epoch, floor, compacted, through, merged, dropped }) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query<{ log_id: string }>(lockForCompactionStatement(schema), [
          ...keyOf(thread),
          epoch,
          floor,
          compacted,
        ]);
        const [row] = rows;
        if (!row) return false;
        const { rowCount } = await client.query(compactStatement(schema), [
          row.log_id,
          through,
          dropped,
          merged.map(({ seq }) => seq),
          merged.map(({ bytes }) => bytes),
          merged.length === 0 ? null : merged.map(({ text }) => text).join("\u001e"),
        ]);
        return rowCount === 1;
      }),
    async tidy(thread, after, through) {
      await pool.query(tidyTemplatesStatement(schema), [...keyOf(thread), after, through]);
    },
  };
}

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
