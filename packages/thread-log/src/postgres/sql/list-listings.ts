export const LISTING_COLUMNS = `account, subject, thread_id, graph_id, thread_name, title, derived_title, archived,
  forked_from, model, status, last_run_id, token, created_at, last_activity_at`;

/**
 * A page of listings, newest activity first. Locks nothing. Sent without a name, so that it is planned with its values: one
 * subject's rows then come in order from `thread_listings_newest`, those of two are sorted, and what waits for people comes from
 * `thread_listings_waiting`, which holds nothing else.
 */
export function listListings(schema: string, whose: "one or all" | "own and shared"): string {
  const ofSubject =
    whose === "own and shared" ? "subject = any($2::text[])" : "($2::text is null or subject = $2)";
  return `
select ${LISTING_COLUMNS} from ${schema}.thread_listings
where account = $1 and ${ofSubject}
  and ($3::text is null or graph_id = $3) and ($4::text is null or status = $4)
  and ($5::boolean is null or archived = $5) and position($6 in search_text) > 0
  and ($7::timestamptz is null or (last_activity_at, subject, thread_id) < ($7, $8::text, $9::text))
order by last_activity_at desc, subject desc, thread_id desc limit $10`;
}
