import type { Json } from "@throughline/ai-core";
import type { LoadRequest, StoredThread } from "../port/log-store.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import { type EntryPage, parseEntryPage } from "./entry-page.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { loadStatement } from "./sql/load-thread.js";

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
