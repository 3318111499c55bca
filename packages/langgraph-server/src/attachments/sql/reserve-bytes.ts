/**
 * Takes `$2` more bytes of account `$1`, unless that makes more than `$3`; no row then. Locks the account's row until the
 * transaction ends, so that uploads of one account reserve in turn and `reserveOfThread` sees every one before it. The first
 * row of an account is inserted unchecked: compare `$2` with `$3` before.
 */
export function reserveOfAccount(schema: string): string {
  return `insert into ${schema}.attachment_usage as held (account, bytes) values ($1, $2)
    on conflict (account) do update set bytes = held.bytes + excluded.bytes
      where held.bytes + excluded.bytes <= $3
    returning 1`;
}

/**
 * Takes `$5` more bytes for upload `$4` of thread `$1, $2, $3`, unless the thread then holds more than `$6`; no row then.
 * Exact because the caller holds the account's row (`reserveOfAccount`): no other upload of the thread reserves meanwhile.
 */
export function reserveOfThread(schema: string): string {
  const ofThread = "account = $1 and subject = $2 and thread_id = $3";
  return `insert into ${schema}.attachment_uploads as upload (account, subject, thread_id, content_id, bytes)
    select $1, $2, $3, $4, $5::bigint
      where $5::bigint + (select coalesce(sum(bytes), 0) from ${schema}.attachments where ${ofThread})
        + (select coalesce(sum(bytes), 0) from ${schema}.attachment_uploads where ${ofThread}) <= $6
    on conflict (account, subject, thread_id, content_id) do update
      set bytes = upload.bytes + excluded.bytes, touched_at = clock_timestamp()
    returning 1`;
}

/** Locks the account's row before anything else of it is changed: all take it first, so none waits for another in a circle. */
export function lockUsage(schema: string): string {
  return `select 1 from ${schema}.attachment_usage where account = $1 for update`;
}

/** Gives `$2` bytes of account `$1` back. Its row is locked already, or no other transaction has it. */
export function releaseBytes(schema: string): string {
  return `update ${schema}.attachment_usage set bytes = bytes - $2 where account = $1`;
}

/** An account that stores nothing leaves no row. */
export function deleteEmptyUsage(schema: string): string {
  return `delete from ${schema}.attachment_usage where account = $1 and bytes <= 0`;
}
