const OLD =
  "phase = 'done' and finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'";

/** Deletes at most $2 receipts of deletions that were done more than $1 milliseconds ago. Skips rows that another instance deletes. */
export function deleteReceipts(schema: string): string {
  return `
delete from ${schema}.deletions where deletion_id in (
  select deletion_id from ${schema}.deletions where ${OLD} order by finished_at limit $2 for update skip locked)`;
}

/** How many there are. Locks nothing. */
export function countReceipts(schema: string): string {
  return `select count(*)::int as count from ${schema}.deletions where ${OLD}`;
}
