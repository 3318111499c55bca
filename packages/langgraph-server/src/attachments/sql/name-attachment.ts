/**
 * Marks attachment `$4` of thread `$1, $2, $3` as named by a message; no row where that was done, or where it is gone. Locks
 * its row, so that a sweep either finds the mark or has deleted the attachment before.
 */
export function nameAttachment(schema: string): string {
  return `update ${schema}.attachments set named_at = clock_timestamp()
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and named_at is null
    returning 1`;
}
