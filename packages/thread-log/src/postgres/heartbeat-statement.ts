import type { Fence } from "@throughline/ai-core";

/** All leases of an instance in one statement. A run that another instance took over has another fence by now. */
export function heartbeatStatement(schema: string): string {
  return `update ${schema}.runs r set lease_until = case when r.stop_requested then r.lease_until
      else clock_timestamp() + $3::double precision * interval '1 millisecond' end
    from unnest($1::text[], $2::bigint[]) as f (run_id, token)
    where r.run_id = f.run_id and r.fence = f.token and r.status = 'running'
    returning r.run_id, r.stop_requested`;
}

export function heartbeatValues(fences: readonly Fence[], leaseMs: number): unknown[] {
  return [fences.map(({ runId }) => runId), fences.map(({ token }) => token.toString()), leaseMs];
}
