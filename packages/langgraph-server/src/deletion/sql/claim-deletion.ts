/**
 * Claims one deletion that is due, for $1 milliseconds: of the account that was served the longest ago, so that many deletions
 * of one account delay no other's first. Accounts in $2 are passed over. Locks the row it claims and skips rows that others
 * are claiming.
 */
export function claimDeletion(schema: string, columns: string): string {
  const table = `${schema}.deletions`;
  return `
update ${table} set attempt = attempt + 1, claimed_at = clock_timestamp(),
  due_at = clock_timestamp() + $1::double precision * interval '1 millisecond'
where deletion_id = (
  select d.deletion_id from ${table} d
  join (
    select account, (select max(s.claimed_at) from ${table} s where s.account = waiting.account) as served_at
    from (select distinct account from ${table} where due_at <= clock_timestamp() and account <> all($2)) waiting
  ) turn on turn.account = d.account
  where d.due_at <= clock_timestamp()
  order by turn.served_at nulls first, d.due_at
  limit 1 for update of d skip locked)
returning ${columns}`;
}
