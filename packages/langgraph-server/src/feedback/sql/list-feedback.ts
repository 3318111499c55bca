/**
 * A page of an account's feedback, what was changed last first. Locks nothing. Sent without a name, so that it is planned with its
 * values: by `feedback_of_author` where an author is named, by the primary key where a thread is, else by `feedback_newest`.
 */
export function listFeedback(schema: string): string {
  return `
select * from ${schema}.feedback
where account = $1 and ($2::text[] is null or subject = any($2)) and ($3::text is null or thread_id = $3)
  and ($4::text is null or graph_id = $4) and ($5::text is null or value = $5) and ($6::text is null or author = $6)
  and ($7::timestamptz is null or updated_at >= $7)
  and ($8::timestamptz is null or (updated_at, feedback_id) < ($8, $9::text))
order by updated_at desc, feedback_id desc limit $10`;
}
