/** Deletes at most $2 receipts of deletions that were done more than $1 milliseconds ago. Skips rows that another instance deletes. */
export function deleteReceipts(schema: string): string {
  return `
delete from ${schema}.deletions where deletion_id in (
  select deletion_id from ${schema}.deletions
  where phase = 'done' and finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  order by finished_at limit $2 for update skip locked)`;
}
