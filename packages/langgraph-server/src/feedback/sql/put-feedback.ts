/**
 * What one person thinks of a message. Locks the key of the thread's listing, so that a deletion, which deletes the listing first,
 * waits for the row and then finds it; a thread that is not listed takes none.
 */
export function putFeedback(schema: string): string {
  return `
with here as (
  select graph_id, thread_name from ${schema}.thread_listings
  where account = $1 and subject = $2 and thread_id = $3 for key share
), moment as (
  select date_trunc('milliseconds', clock_timestamp()) as now
)
insert into ${schema}.feedback as f (account, subject, thread_id, message_id, author, feedback_id, graph_id, thread_name,
  run_id, value, note, created_at, updated_at)
select $1, $2, $3, $4, $5, $6, here.graph_id, here.thread_name, $7, $8, $9, moment.now, moment.now from here, moment
on conflict (account, subject, thread_id, message_id, author) do update
set run_id = coalesce(excluded.run_id, f.run_id), value = excluded.value, note = excluded.note,
  updated_at = excluded.updated_at
returning *`;
}
