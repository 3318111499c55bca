/** Takes the backfill for `$1` milliseconds, unless another instance has it or it is done. Locks its only row. */
export function claimBackfill(schema: string): string {
  return `
update ${schema}.said_backfill set claimed_until = clock_timestamp() + $1::bigint * interval '1 millisecond'
where not is_done and (claimed_until is null or claimed_until < clock_timestamp())
returning account, subject, thread_id, created_before`;
}
