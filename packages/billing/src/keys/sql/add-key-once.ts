/**
 * Adds a key unless there is one, and gives the one that is there. The update that changes nothing locks the row and reads it
 * as it is after the lock: of several that add at once all get the first one's key, which `do nothing` would not give.
 */
export function addKeyOnce(schema: string, columns: string): string {
  const table = `${schema}.virtual_keys`;
  return `
insert into ${table} as there (account, virtual_key_id, sealed, registered) values ($1, $2, $3, $4)
on conflict (account, virtual_key_id) do update set account = there.account
returning ${columns
    .split(", ")
    .map((column) => `there.${column}`)
    .join(", ")}`;
}
