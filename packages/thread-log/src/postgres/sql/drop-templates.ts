/**
 * Deletes the templates of a log ($1) that no entry after a seq ($2) uses, once those up to it are gone. All entries of a token
 * lie before the first of a higher one: if that lies at or before the seq, the lower token has none left, and can't write any
 * more. Reads the templates alone, never the entries. Expects the thread's row to be locked.
 */
export function dropTemplatesStatement(schema: string): string {
  return `
delete from ${schema}.entry_templates where log_id = $1 and token < (
  select max(token) from ${schema}.entry_templates where log_id = $1 and first_seq <= $2::bigint + 1)`;
}
