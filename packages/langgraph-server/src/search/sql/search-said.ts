/**
 * Of each thread in scope the newest message with all words. Locks nothing. The account is one of the words, so the index gives
 * this account's messages only; what is left is sorted.
 */
export function searchSaid(schema: string): string {
  return `
select * from (
  select distinct on (subject, thread_id) account, subject, thread_id, message_id, role, said, said_at
  from ${schema}.said
  where words @@ $1::tsquery and account = $2 and ($3::text[] is null or subject = any($3))
    and ($4::text is null or graph_id = $4)
  order by subject, thread_id, said_at desc, message_id
) newest order by said_at desc, subject, thread_id limit $5`;
}
