/**
 * Deletes the templates that no entry from the floor on uses. All entries of a token lie before the first of a higher one: if
 * that lies at or below the floor, the lower token has none left above it, and can't write any more. Reads the templates alone,
 * never the entries, and locks none of them but those it deletes. The epoch is compared in the same statement: a thread that was
 * deleted and made again has the same `log_id`. Parameters: `log_id`, epoch.
 */
export function dropTemplatesStatement(schema: string): string {
  return `
delete from ${schema}.entry_templates p using ${schema}.threads t
where p.log_id = $1 and t.log_id = $1 and t.epoch = $2 and p.token < (
  select max(q.token) from ${schema}.entry_templates q where q.log_id = $1 and q.first_seq <= t.floor)`;
}
