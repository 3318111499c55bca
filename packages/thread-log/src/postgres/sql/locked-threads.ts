/**
 * Which of these threads another session holds, by their position in the arrays, from 1. Takes the lock that an append takes
 * on all others, for the length of this statement, and waits for none.
 */
export function lockedThreadsStatement(schema: string): string {
  return `
with asked as (
  select t.log_id, a.ord from unnest($1::text[], $2::text[], $3::text[]) with ordinality as a (account, subject, thread_id, ord)
  join ${schema}.threads t on t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id
), free as materialized (
  select t.log_id from ${schema}.threads t where t.log_id in (select log_id from asked)
  for no key update of t skip locked
)
select ord::int from asked where log_id not in (select log_id from free)`;
}
