import type pg from "pg";
import type { RangeRequest, StoredRange } from "../port/log-store.js";
import { subjectKey } from "../port/thread-ref.js";
import { type EntryPage, parseEntryPage } from "./entry-page.js";
import { entryPage, resumeAt } from "./sql/entry-page.js";
import { continuedAt } from "./sql/renew-epochs.js";

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
