/**
 * Writes part `$5` of upload `$4` of thread `$1, $2, $3`; no row where the upload is gone. Locks the upload's row, so that a
 * deletion either comes first, and nothing is written, or deletes this chunk, too.
 *
 * The commit does not wait for the disk: `finish` does, and with it everything written before. A chunk that a crash of the
 * database loses belongs to an upload that never finished.
 */
export function writeChunk(schema: string): string {
  return `with quick as (
      select set_config('synchronous_commit', 'off', true)
    ), touched as (
      update ${schema}.attachment_uploads set touched_at = clock_timestamp() from quick
        where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
        returning 1
    )
    insert into ${schema}.attachment_chunks (account, subject, thread_id, content_id, part, content)
      select $1, $2, $3, $4, $5, $6 from touched
      returning 1`;
}

/** The same for a file in a folder: the upload is alive; no row where it is gone. */
export function touchUpload(schema: string): string {
  return `update ${schema}.attachment_uploads set touched_at = clock_timestamp()
    where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
    returning 1`;
}
