/** The next threads behind a position in the order of their keys, of those that began before the index was made. Locks nothing. */
export function listBackfill(schema: string): string {
  return `
select account, subject, thread_id, graph_id, last_activity_at from ${schema}.thread_listings
where (account, subject, thread_id) > ($1, $2, $3) and created_at <= $4
order by account, subject, thread_id limit $5`;
}
