/** Records a unit in doubt, before its request is sent. Locks nothing that exists; a repetition changes nothing. */
export function openUnit(schema: string): string {
  return `
insert into ${schema}.usage_units (unit_id, run_id, attempt, ordinal, account, subject, virtual_key_id, key_hash, request_id,
  trace_id, thread_id, graph_id, executor_type, model)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict (unit_id) do nothing`;
}
