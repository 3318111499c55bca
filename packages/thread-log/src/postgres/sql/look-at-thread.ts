import { QUEUE_ORDER, RUN_COLUMNS, SAME_THREAD } from "./fragments.js";

/**
 * Everything a start needs to know, as of one snapshot. Locks nothing: what is decided by it is written only if the thread's
 * revision is still the one it saw. Parameters: the thread, run id, alias, both of them, answered interrupts, account.
 */
export function lookStatement(schema: string): string {
  const columns = RUN_COLUMNS.join(", ");
  return `
select
  t.revision, t.epoch as log_epoch, t.head as log_head,
  exists (select 1 from ${schema}.closures where account = $1 and (subject is null or subject = $2)
    and (thread_id is null or thread_id = $3)) as closed,
  exists (select 1 from ${schema}.stops
    where ${SAME_THREAD} and run_name = any($6::text[]) and expires_at > clock_timestamp()) as stopped,
  (select coalesce(json_agg(json_build_object('run_id', run_id, 'status', status, 'preempts', preempts)
      order by ${QUEUE_ORDER}), '[]')
    from ${schema}.runs where ${SAME_THREAD} and status in ('running', 'queued')) as open,
  (select coalesce(json_agg(json_build_object('interrupt_id', interrupt_id, 'answered_by', answered_by, 'answer', answer)
      order by interrupt_id), '[]')
    from ${schema}.interrupts where ${SAME_THREAD} and (answered_by is null or interrupt_id = any($7::text[]))
  ) as interrupts,
  (select count(*)::int from ${schema}.runs where account = $8 and status in ('running', 'queued')) as open_runs,
  (select model from ${schema}.thread_listings where ${SAME_THREAD}) as model,
  same.*
from (values (1)) as always (one)
left join ${schema}.threads t on t.account = $1 and t.subject = $2 and t.thread_id = $3
left join lateral (
  -- Each by its own index: a thread may have many runs.
  select ${columns} from ${schema}.runs where run_id = $4 and ${SAME_THREAD}
  union all
  select ${columns} from ${schema}.runs where alias = $5 and ${SAME_THREAD}
  limit 1
) same on true`;
}
