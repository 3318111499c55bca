/**
 * R17: one row while a run holds its thread under a token, none otherwise. Locks the run's row against being changed until
 * the transaction ends: a takeover changes it, so it comes before this or after the write that this is a part of. Parameters:
 * `$first` (run id) and the one after it (token).
 */
export function heldQuery(schema: string, first: number): string {
  return `select 1 from ${schema}.runs r
    join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
    where r.run_id = $${first}::text and r.fence = $${first + 1}::bigint and r.status = 'running' and t.fence = r.fence
    for share of r`;
}
