/**
 * Moves a settled unit's amount from $2 to $3 and writes the difference as a correction. Locks the unit's row and compares its
 * amount under the lock: of two corrections from one amount the second writes nothing. Gives one row where it corrected.
 */
export function correctUnit(schema: string): string {
  return `
with moved as (
  update ${schema}.usage_units set billed_pico = $3, evidence = $4,
    served_model = $6, response_id = $7, input_tokens = $8, output_tokens = $9, retries = $10, fallbacks = $11
  where unit_id = $1 and state = 'settled' and billed_pico = $2 and $2::bigint <> $3::bigint
  returning unit_id
)
insert into ${schema}.charge_corrections (source_system, source_reference, delta_pico, evidence, reason)
select 'litellm', moved.unit_id::text, $3::bigint - $2::bigint, $4, $5 from moved
returning 1`;
}
