/** Where entries are. */
const entriesOf = (schema: string) => `${schema}.log_entries`;
/** Columns of an entry that trimming looks at. */
const TERMINAL = "end_of_run is not null";
const NO_TERMINAL = "end_of_run is null";

/**
 * Raises a thread's floor: what is below it can't be read any more. Locks the thread's row for one update; what is cut off is
 * summed before, because only trims and compaction change entries that are there, and each of them moves the floor or
 * `compacted`. Parameters: the thread, the epoch that the cut was computed in, and the last seq to cut off, which is lowered to
 * what a snapshot covers, and to a whole entry where several were merged into one. No row: there is nothing to cut, or another
 * trim or compaction came first.
 */
export function raiseFloorStatement(schema: string): string {
  return `
with wanted as materialized (
  select t.log_id, t.floor, t.compacted, least($5::bigint, t.snapshot_seq) as through from ${schema}.threads t
  where t.account = $1 and t.subject = $2 and t.thread_id = $3 and t.epoch = $4
), cut as materialized (
  select log_id, floor, compacted, case when through >= compacted then through else (
    select coalesce(max(e.seq), 0) from ${entriesOf(schema)} e
    where e.log_id = wanted.log_id and e.seq between wanted.floor and wanted.through) end as through
  from wanted
), summed as materialized (
  select cut.*, (
    select coalesce(sum(e.bytes), 0) from ${entriesOf(schema)} e
    where e.log_id = cut.log_id and e.seq between cut.floor and cut.through) as bytes
  from cut where cut.through >= cut.floor
)
update ${schema}.threads t set floor = summed.through + 1, held_bytes = greatest(0, t.held_bytes - summed.bytes)
from summed where t.log_id = summed.log_id and t.epoch = $4 and t.floor = summed.floor and t.compacted = summed.compacted`;
}

/**
 * Deletes a batch of what is below the floor, from the lowest seq on, but terminals. Locks the entries it deletes, and nothing
 * that an append needs. The epoch is compared in the same statement: a thread that was deleted and made again has the same
 * `log_id`, and its new entries are not ours to delete. Parameters: `log_id`, epoch, the seq after which to begin, and the size
 * of the batch.
 */
export function deleteTrimmedStatement(schema: string): string {
  return `
with batch as materialized (
  select e.seq from ${schema}.threads t join ${entriesOf(schema)} e on e.log_id = t.log_id
  where t.log_id = $1 and t.epoch = $2 and e.seq > $3 and e.seq < t.floor and e.${NO_TERMINAL}
  order by e.seq limit $4
), gone as (
  delete from ${entriesOf(schema)}
  where log_id = $1 and seq > $3 and seq <= (select max(seq) from batch) and ${NO_TERMINAL}
  returning seq
)
select (select count(*)::int from gone) as dropped, (select max(seq) from batch) as last,
  (select count(*)::int from batch) as found`;
}

/** Deletes terminals below the floor but the newest. Parameters: `log_id`, epoch, how many stay. */
export function deleteTerminalsStatement(schema: string): string {
  return `
delete from ${entriesOf(schema)} where log_id = $1 and ${TERMINAL} and seq <= (
  select e.seq from ${schema}.threads t join ${entriesOf(schema)} e on e.log_id = t.log_id
  where t.log_id = $1 and t.epoch = $2 and e.seq < t.floor and e.${TERMINAL}
  order by e.seq desc offset $3 limit 1)`;
}

/** Deletes snapshots that end before the floor. Parameters: `log_id`, epoch. */
export function deleteSnapshotsStatement(schema: string): string {
  return `
delete from ${schema}.snapshots s using ${schema}.threads t
where s.log_id = $1 and t.log_id = $1 and t.epoch = $2 and s.seq + 1 < t.floor`;
}

/**
 * A condition on a thread `t`: a trim was interrupted before it had deleted everything below the floor. Deleting begins with the
 * lowest seq, so what is left is next to the floor, where a few terminals may stand that stay in any case.
 */
export function hasTrimmedEntries(schema: string): string {
  return `exists (
  select 1 from (
    select e.end_of_run from ${entriesOf(schema)} e where e.log_id = t.log_id and e.seq < t.floor order by e.seq desc limit 8
  ) last where last.${NO_TERMINAL})`;
}
