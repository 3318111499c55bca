/**
 * Writes what was said in threads that are listed, and deletes what is gone. Locks the keys of the listings, so that a deletion,
 * which deletes the listing first, waits for the rows and then finds them. Words come as one text each, with blanks between.
 */
export function putSaid(schema: string): string {
  return `
with changed as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $12::timestamptz[])
    as c (account, subject, thread_id, message_id, role, said, words, said_at)
), here as (
  select l.account, l.subject, l.thread_id, l.graph_id from ${schema}.thread_listings l
  where (l.account, l.subject, l.thread_id) in (select account, subject, thread_id from changed)
  order by l.account, l.subject, l.thread_id for key share
), removed as (
  delete from ${schema}.said s
  using unnest($8::text[], $9::text[], $10::text[], $11::text[]) as g (account, subject, thread_id, message_id)
  where s.account = g.account and s.subject = g.subject and s.thread_id = g.thread_id and s.message_id = g.message_id
)
insert into ${schema}.said (account, subject, thread_id, message_id, graph_id, role, said, words, said_at)
select c.account, c.subject, c.thread_id, c.message_id, here.graph_id, c.role, c.said,
  array_to_tsvector(string_to_array(c.words, ' ')), coalesce(c.said_at, clock_timestamp())
from changed c join here using (account, subject, thread_id)
order by c.account, c.subject, c.thread_id, c.message_id
on conflict (account, subject, thread_id, message_id) do update
set said = excluded.said, words = excluded.words`;
}
