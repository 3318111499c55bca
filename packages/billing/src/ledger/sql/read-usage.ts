import type { UsageGroup } from "../ledger-store.js";

const KEYS: Readonly<Record<UsageGroup, string>> = {
  day: `to_char(opened_at at time zone 'UTC', 'YYYY-MM-DD') collate "C"`,
  agent: "graph_id",
  model: "coalesce(served_model, model, '')",
  person: "subject",
  run: "run_id",
};

/** What units add up to. Sums are numeric, which no number of units overflows. */
export const BILL = `count(*)::integer as calls, coalesce(sum(input_tokens), 0) as input_tokens,
  coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(billed_pico), 0) as amount,
  (count(*) filter (where state in ('in_doubt', 'unresolved')))::integer as unpriced`;

/** One page of an account's usage between $2 and $3, by group, in order of the groups' keys. Locks nothing. */
export function readUsage(schema: string, by: UsageGroup): string {
  const key = KEYS[by];
  return `
select ${key} as key, ${BILL}
from ${schema}.usage_units
where account = $1 and opened_at >= $2 and opened_at < $3 and ($4::text is null or subject = $4)
  and ($5::text is null or ${key} > $5)
  and ($7::text is null or ${KEYS.agent} = $7) and ($8::text is null or ${KEYS.model} = $8)
group by 1 order by 1 limit $6`;
}
