const OLD =
  "phase = 'done' and finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'";

/**
 * Deletes at most $2 receipts of deletions that were done more than $1 milliseconds ago. Skips rows that another instance
 * deletes. Materialized: joined to the rows it deletes, the limit would count anew for each of them in some plans.
 */
export function deleteReceipts(schema: string): string {
  return `
with past as materialized (
  select deletion_id from ${schema}.deletions where ${OLD} order by finished_at limit $2 for update skip locked)
delete from ${schema}.deletions deletion using past where deletion.deletion_id = past.deletion_id`;
}

/** How many there are. Locks nothing. */
export function countReceipts(schema: string): string {
  return `select count(*)::int as count from ${schema}.deletions where ${OLD}`;
}
