/** Up to `$2` attachments that no message has named for `$1` milliseconds. Locks nothing: each is checked again when deleted. */
export function findUnnamed(schema: string): string {
  return `select account, subject, thread_id, attachment_id, coalesce(content_id, attachment_id) as content_id
    from ${schema}.attachments
    where named_at is null and created_at < clock_timestamp() - $1 * interval '1 ms'
    order by created_at limit $2`;
}

/** Attachment `$4` of thread `$1, $2, $3`, unless a message names it by now. */
export function deleteUnnamed(schema: string): string {
  return `delete from ${schema}.attachments
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and named_at is null
    returning bytes`;
}

/** Whether the attachment's thread is there: listed, or in the log and not deleted. */
function hasThread(schema: string): string {
  const same = (other: string) =>
    ["account", "subject", "thread_id"].map((key) => `${other}.${key} = file.${key}`).join(" and ");
  return `(exists (select 1 from ${schema}.thread_listings listing where ${same("listing")})
      or exists (select 1 from ${schema}.threads thread where ${same("thread")} and not thread.deleted))`;
}

/**
 * Up to `$2` attachments older than `$1` milliseconds whose thread was deleted or never began: a start that was refused stores
 * its files before. Reads every attachment's key and locks nothing: each is checked again when deleted.
 */
export function findOrphaned(schema: string): string {
  return `select account, subject, thread_id, attachment_id, coalesce(content_id, attachment_id) as content_id
    from ${schema}.attachments file
    where created_at < clock_timestamp() - $1 * interval '1 ms' and not ${hasThread(schema)}
    limit $2`;
}

/** Attachment `$4` of thread `$1, $2, $3`, unless its thread is there by now. */
export function deleteOrphaned(schema: string): string {
  return `delete from ${schema}.attachments file
    where account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4 and not ${hasThread(schema)}
    returning bytes`;
}

/** Up to `$2` uploads to which nothing was written for `$1` milliseconds. Locks nothing: each is checked again when deleted. */
export function findStalled(schema: string): string {
  return `select account, subject, thread_id, content_id from ${schema}.attachment_uploads
    where touched_at < clock_timestamp() - $1 * interval '1 ms'
    order by touched_at limit $2`;
}

/** Upload `$4` of thread `$1, $2, $3`, unless something was written within `$5` milliseconds. */
export function deleteStalled(schema: string): string {
  return `delete from ${schema}.attachment_uploads
    where account = $1 and subject = $2 and thread_id = $3 and content_id = $4
      and touched_at < clock_timestamp() - $5 * interval '1 ms'
    returning bytes`;
}

/**
 * Up to `$1` contents that neither an attachment nor an upload has: a version before this one deletes the attachment and knows
 * nothing of chunks. Reads the index of chunks and locks nothing: a content without an owner never gets one again.
 */
export function findStray(schema: string): string {
  return `select account, subject, thread_id, content_id from ${schema}.attachment_chunks chunk
    where part = 0 and ${isStray(schema)}
    limit $1`;
}

function isStray(schema: string): string {
  const same = (other: string) =>
    ["account", "subject", "thread_id", "content_id"]
      .map((key) => `${other}.${key} = chunk.${key}`)
      .join(" and ");
  return `not exists (select 1 from ${schema}.attachments file where ${same("file")})
      and not exists (select 1 from ${schema}.attachment_uploads upload where ${same("upload")})`;
}

/**
 * Up to `$1` accounts whose usage is not what their attachments and uploads add up to: a version before this one counts
 * nothing.
 */
export function findMiscounted(schema: string): string {
  return `select coalesce(held.account, used.account) as account
    from (
      select account, sum(bytes) as bytes from (
        select account, bytes from ${schema}.attachments
        union all select account, bytes from ${schema}.attachment_uploads
      ) files group by account
    ) held
    full join ${schema}.attachment_usage used on used.account = held.account
    where used.bytes is distinct from held.bytes
    limit $1`;
}

/** Makes sure account `$1` has a row that can be locked. */
export function ensureUsage(schema: string): string {
  return `insert into ${schema}.attachment_usage (account, bytes) values ($1, 0) on conflict do nothing`;
}

/** Counts account `$1` again. Its row is locked, so nothing is reserved or given back meanwhile. */
export function recountUsage(schema: string): string {
  return `update ${schema}.attachment_usage set bytes =
      (select coalesce(sum(bytes), 0) from ${schema}.attachments where account = $1)
      + (select coalesce(sum(bytes), 0) from ${schema}.attachment_uploads where account = $1)
    where account = $1`;
}

/**
 * What `findUnnamed` (`$1`), `findStalled` (`$2`), `findOrphaned` (`$3`) and `findStray` find in all; a file that is unnamed and
 * orphaned counts as unnamed. Reads every attachment's key and locks nothing.
 */
export function countSweepable(schema: string): string {
  const older = (column: string, ms: string) => `${column} < clock_timestamp() - ${ms} * interval '1 ms'`;
  const isUnnamed = `named_at is null and ${older("created_at", "$1::double precision")}`;
  const isOrphaned = `${older("created_at", "$3::double precision")} and not ${hasThread(schema)}`;
  return `select
    (select count(*)::int from ${schema}.attachments where ${isUnnamed}) as unnamed,
    (select count(*)::int from ${schema}.attachment_uploads
      where ${older("touched_at", "$2::double precision")}) as unfinished,
    (select count(*)::int from ${schema}.attachments file where ${isOrphaned} and not (${isUnnamed})) as orphaned,
    (select count(*)::int from ${schema}.attachment_chunks chunk where part = 0 and ${isStray(schema)}) as stray`;
}
