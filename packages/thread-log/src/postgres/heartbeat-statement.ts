import type { Fence } from "@throughline/ai-core";

/**
 * All leases of an instance in one statement. A run that another instance recovered has another fence by now. Locks the runs
 * in order of their ids, as a commit in which several of them end does: else the two could wait for each other.
 */
export function heartbeatStatement(schema: string): string {
  return `with held as materialized (
      select r.run_id from unnest($1::text[], $2::bigint[]) as f (run_id, token)
      join ${schema}.runs r on r.run_id = f.run_id and r.fence = f.token and r.status = 'running'
      order by r.run_id for update of r
    )
    update ${schema}.runs r set lease_until = case when r.stop_requested then r.lease_until
      else clock_timestamp() + $3::double precision * interval '1 millisecond' end
    from held where r.run_id = held.run_id
    returning r.run_id, r.stop_requested`;
}

export function heartbeatValues(fences: readonly Fence[], leaseMs: number): unknown[] {
  return [fences.map(({ runId }) => runId), fences.map(({ token }) => token.toString()), leaseMs];
}
