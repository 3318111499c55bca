import { entryPage } from "./entry-page.js";

/**
 * A thread's row, the snapshot to begin from and the entries after it, as of one snapshot of the database; locks nothing. One
 * row, because joined to every entry the snapshot's state would travel as often as there are entries. Parameters: the thread,
 * the fold's versions that can be read, the position a reader returns to (or null), how shortly before the newest snapshot that must be to begin
 * from an older one, and the most entries to read.
 */
export function loadStatement(schema: string): string {
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
