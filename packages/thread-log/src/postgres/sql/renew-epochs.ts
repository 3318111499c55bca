/**
 * Gives every thread a new epoch, and locks all of them until the transaction ends: nothing may be written in the old one.
 * Parameter: whether nothing was written since the restore. Then what the log holds up to its head is what readers of the old epoch have
 * seen, and each thread remembers that. `restored_as` ties it to the new epoch: one that a deletion gives later is no
 * continuation.
 */
export function renewEpochsStatement(schema: string): string {
  return `
update ${schema}.threads t set epoch = renewed.epoch,
  restored_from = case when $1 then t.epoch end,
  restored_at = case when $1 then t.head end,
  restored_as = case when $1 then renewed.epoch end
from (
  select log_id, replace(gen_random_uuid()::text, '-', '') as epoch from ${schema}.threads order by log_id for update
) renewed
where t.log_id = renewed.log_id`;
}

/** The last position of the epoch `asked` that this log holds as well; null where it is no continuation of that one. */
export function continuedAt(asked: string): string {
  return `case when t.restored_from = ${asked} and t.restored_as = t.epoch then t.restored_at end`;
}

/**
 * The sessions of instances that write to this database or listen to it. An instance that starts has neither. Sessions of another role
 * show no name to one without `pg_read_all_stats`: instances share a role. Locks nothing.
 */
export const INSTANCES_STATEMENT = `
select count(*)::int as sessions from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
  and application_name in ('throughline commit', 'throughline wake')`;
