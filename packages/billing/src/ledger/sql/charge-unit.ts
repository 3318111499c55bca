/**
 * Settles a unit and writes its receipt, in one statement, so that neither is without the other. Locks the unit's row: of two
 * that charge it the second finds it settled and writes nothing. Gives one row where it charged.
 */
export function chargeUnit(schema: string): string {
  return `
with moved as (
  update ${schema}.usage_units set state = 'settled', reason = null, evidence = $3, billed_pico = $2,
    served_model = $4, response_id = $5, input_tokens = $6, output_tokens = $7, retries = $8, fallbacks = $9
  where unit_id = $1 and state in ('in_doubt', 'unresolved')
  returning unit_id, account, run_id
)
insert into ${schema}.charge_receipts (source_system, source_reference, account, run_id, amount_pico, evidence)
select 'litellm', moved.unit_id::text, moved.account, moved.run_id, $2, $3 from moved
returning 1`;
}
