/**
 * Adds rows of LiteLLM's log. Locks those that are there already and are claimed now: they stay as they are otherwise. A row of
 * another key or label under the same ids is not the one that is claimed.
 */
export function addFacts(schema: string): string {
  return `
insert into ${schema}.spend_facts as known (source, call_id, request_id, status, unit_id, key_hash, spend_pico, input_tokens,
  output_tokens, cache_hit, error_code, model_group, ended_at, claimed, labels)
select distinct on (f.call_id, f.request_id, f.status) $1, f.*
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[],
  $10::boolean[], $11::text[], $12::text[], $13::timestamptz[], $14::boolean[], $15::jsonb[])
  as f (call_id, request_id, status, unit_id, key_hash, spend_pico, input_tokens, output_tokens, cache_hit, error_code,
    model_group, ended_at, claimed, labels)
order by f.call_id, f.request_id, f.status, f.claimed desc
on conflict (source, call_id, request_id, status) do update set claimed = true
where excluded.claimed and not known.claimed and known.key_hash = excluded.key_hash
  and known.unit_id is not distinct from excluded.unit_id`;
}
