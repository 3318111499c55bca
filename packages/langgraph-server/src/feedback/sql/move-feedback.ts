/**
 * Gives feedback on these messages of a thread to the thread that it became. Locks the key of the new thread's listing, so that a
 * deletion, which deletes the listing first, waits for the rows and then finds them, and the rows themselves.
 */
export function moveFeedback(schema: string): string {
  return `
with here as (
  select thread_name from ${schema}.thread_listings
  where account = $1 and subject = $4 and thread_id = $5 for key share
)
update ${schema}.feedback f set subject = $4, thread_id = $5, thread_name = here.thread_name
from here
where f.account = $1 and f.subject = $2 and f.thread_id = $3 and f.message_id = any($6::text[])`;
}
