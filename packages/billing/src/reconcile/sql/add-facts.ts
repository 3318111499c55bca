/** Adds rows of LiteLLM's log. Locks nothing that exists: one that is there already stays as it is. */
export function addFacts(schema: string): string {
  return `
insert into ${schema}.spend_facts (source, call_id, request_id, status, unit_id, key_hash, spend_pico, input_tokens,
  output_tokens, cache_hit, error_code, model_group, ended_at, claimed)
select $1, f.* from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[],
  $10::boolean[], $11::text[], $12::text[], $13::timestamptz[], $14::boolean[]) as f
on conflict do nothing`;
}
