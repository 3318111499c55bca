/** A page of $2 living threads of all accounts after row number $1, oldest first. Locks nothing. */
export function everyThreadStatement(schema: string): string {
  return `
select log_id, account, subject, thread_id from ${schema}.threads
where log_id > $1::bigint and not deleted and fence > 0 order by log_id limit $2`;
}

/** Rows that a stop of an unknown run made, and nothing ever started in. By then the stop itself has expired. */
const UNSTARTED = (schema: string) => `
t.fence = 0 and not t.deleted and t.created_at < clock_timestamp() - interval '1 hour'
and not exists (select 1 from ${schema}.stops s
  where s.account = t.account and s.subject = t.subject and s.thread_id = t.thread_id and s.expires_at > clock_timestamp())
and not exists (select 1 from ${schema}.runs r
  where r.account = t.account and r.subject = t.subject and r.thread_id = t.thread_id)`;

/**
 * Deletes at most $1 of them. Locks each row and skips those that are locked: a start or a stop has the right of way. One that
 * looked at the row before finds another revision and looks again. Materialized: joined to the rows it deletes, the limit would
 * count anew for each of them in some plans.
 */
export function deleteUnstartedStatement(schema: string): string {
  return `
with unstarted as materialized (
  select t.log_id from ${schema}.threads t where ${UNSTARTED(schema)} order by t.log_id limit $1 for update skip locked)
delete from ${schema}.threads t using unstarted where t.log_id = unstarted.log_id`;
}

/** How many rows the rounds of retention would delete at the age of $1 milliseconds (null: none), by kind. Locks nothing. */
export function measureStatement(schema: string): string {
  const past = "clock_timestamp() - $1::double precision * interval '1 millisecond'";
  return `
select
  (select count(*) from ${schema}.threads t where ${UNSTARTED(schema)})::int as threads,
  (select count(*) from ${schema}.runs r where ended_at < ${past} and not exists (
    select 1 from ${schema}.interrupts i where i.account = r.account and i.subject = r.subject
      and i.thread_id = r.thread_id and i.run_id = r.run_id and i.answered_by is null))::int as runs,
  e.entries::int as entries, e.bytes
from (
  select count(*) as entries, coalesce(sum(bytes), 0) as bytes from ${schema}.log_entries
  where at < ${past} and end_of_run is null) e`;
}
