import type pg from "pg";
import type { RangeRequest, StoredEntry, StoredRange } from "../port/log-store.js";
import { subjectKey } from "../port/thread-ref.js";

/**
 * Any number of ranges in one statement, so that row and entries are of one moment. Each costs two index descents and its
 * own entries; one of a foreign epoch costs no entries.
 */
export function readStatement(schema: string): string {
  return `
select r.ord::int, t.epoch, t.head, t.floor, t.deleted, e.seq, e.envelope
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  with ordinality as r (account, subject, thread_id, epoch, after_seq, ord)
join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
left join lateral (
  select seq, envelope from ${schema}.entries
  where log_id = t.log_id and seq > r.after_seq and seq >= t.floor and (r.epoch is null or r.epoch = t.epoch)
  order by seq limit $6
) e on true
order by r.ord, e.seq`;
}

export interface ReadRow {
  readonly ord: number;
  readonly epoch: string;
  readonly head: string;
  readonly floor: string;
  readonly deleted: boolean;
  readonly seq: string | null;
  readonly envelope: string | null;
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
  let entries: StoredEntry[] = [];
  let current = 0;
  for (const row of rows) {
    if (row.ord !== current) {
      current = row.ord;
      entries = [];
      ranges[current - 1] = {
        epoch: row.epoch,
        head: Number(row.head),
        floor: Number(row.floor),
        deleted: row.deleted,
        entries,
      };
    }
    if (row.seq !== null && row.envelope !== null) entries.push({ seq: Number(row.seq), text: row.envelope });
  }
  return ranges;
}
