/** Locks the one row, so that of several instances that start together one alone does the rest. */
export function forgetLogHomeStatement(schema: string): string {
  return `delete from ${schema}.meta where key = 'log home' returning value`;
}

/**
 * Locks every thread until the transaction ends: nothing may be written in the old epoch. The floor lies after the head,
 * which makes every log one whose beginning is gone.
 */
export function restartLogsStatement(schema: string): string {
  return `update ${schema}.threads set epoch = replace(gen_random_uuid()::text, '-', ''), floor = head + 1, last_append = null,
      held_bytes = 0, unfolded_bytes = 0, snapshot_seq = case when snapshot_seq = head then head else 0 end
    where not deleted`;
}

/** A snapshot that does not reach the head has nothing to be read on from. Locks nothing more than what it deletes. */
export function dropStaleSnapshotsStatement(schema: string): string {
  return `delete from ${schema}.snapshots s using ${schema}.threads t where s.log_id = t.log_id and s.seq < t.head`;
}
