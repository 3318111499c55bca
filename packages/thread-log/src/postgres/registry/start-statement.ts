import { RUN_COLUMNS } from "./run-rows.js";

/**
 * Made by a migration and called by `startRunCall`. A change of it is another function with the next number: instances of
 * both versions run side by side while a deployment rolls.
 *
 * Writes what was decided by a look, if the thread is still at the revision that was looked at. Each statement in it has a
 * snapshot of its own, so what is read after a lock is no older than the lock. It locks, in this order:
 *
 * 1. the account, together with everything else that makes something in it. A deletion takes the same lock alone before it
 *    closes a scope (`closeScope`), so a run is seen by the deletion or sees the closure.
 * 2. the thread's row, which makes the registry's rules about a thread serial. A thread that is not there is made.
 * 3. the rows of runs and interrupts it writes, as everything else does under 2.
 */
export function createStartRun(schema: string): string {
  return `
create function ${schema}.start_run_1(
  in_account text, in_subject text, in_thread_id text, in_revision bigint,
  in_status text, in_run_id text, in_alias text, in_graph_id text, in_origin_kind text, in_origin_id text,
  in_start_kind text, in_start text, in_request text, in_upstream_run_id text, in_preempts boolean,
  in_state_key text, in_owner text, in_lease_ms double precision,
  in_answered text[], in_answers text[], in_sets_aside boolean,
  in_preempted text, in_channel text, in_stop_payload text,
  in_thread_name text, in_derived_title text, in_search_text text
) returns table (verdict text, log_epoch text, log_head bigint, run ${schema}.runs)
language plpgsql as $function$
declare
  starts constant boolean := in_status = 'running';
  moment constant timestamptz := date_trunc('milliseconds', clock_timestamp());
  here ${schema}.threads;
begin
  perform pg_advisory_xact_lock_shared(hashtext('throughline deletions'), hashtext(in_account));
  if exists (
    select 1 from ${schema}.closures c where c.account = in_account
      and (c.subject is null or c.subject = in_subject) and (c.thread_id is null or c.thread_id = in_thread_id)
  ) then
    verdict := 'closed';
    return next;
    return;
  end if;

  insert into ${schema}.threads (account, subject, thread_id, epoch, fence)
  values (in_account, in_subject, in_thread_id, replace(gen_random_uuid()::text, '-', ''), 0)
  on conflict do nothing;
  select * into strict here from ${schema}.threads t
  where t.account = in_account and t.subject = in_subject and t.thread_id = in_thread_id for update;
  if here.revision <> in_revision then
    verdict := 'stale';
    return next;
    return;
  end if;

  -- R17: the fence refuses every earlier writer from here on; the rest is what opening the log does.
  update ${schema}.threads t set
    revision = t.revision + 1,
    fence = case when starts then greatest(t.fence + 1, nextval('${schema}.fences')) else t.fence end,
    deleted = t.deleted and not starts,
    state_key = case when starts then in_state_key else t.state_key end
  where t.log_id = here.log_id
  returning * into here;

  insert into ${schema}.runs (account, subject, thread_id, run_id, alias, graph_id, origin_kind, origin_id, status,
    start_kind, start, request, upstream_run_id, preempts, owner, fence, lease_until, ended_at)
  values (in_account, in_subject, in_thread_id, in_run_id, in_alias, in_graph_id, in_origin_kind, in_origin_id, in_status,
    in_start_kind, in_start, in_request, in_upstream_run_id, in_preempts,
    case when starts then in_owner end, case when starts then here.fence else 0 end,
    case when starts then clock_timestamp() + in_lease_ms * interval '1 millisecond' end,
    case when in_status = 'cancelled' then clock_timestamp() end)
  returning * into run;

  -- R28: in the transaction that makes the run, so that an answer is used once or not at all.
  update ${schema}.interrupts i set answered_by = in_run_id, answer = a.answer
  from unnest(in_answered, in_answers) as a (interrupt_id, answer)
  where i.account = in_account and i.subject = in_subject and i.thread_id = in_thread_id
    and i.interrupt_id = a.interrupt_id;
  if in_sets_aside then
    delete from ${schema}.interrupts i where i.account = in_account and i.subject = in_subject
      and i.thread_id = in_thread_id and i.answered_by is null;
  end if;

  if in_preempted is not null then
    update ${schema}.runs r set stop_requested = true where r.run_id = in_preempted;
    perform pg_notify(in_channel, in_stop_payload);
  end if;

  if in_thread_name is not null then
    insert into ${schema}.thread_listings as l (account, subject, thread_id, graph_id, thread_name, derived_title,
      search_text, status, last_run_id, token, created_at, last_activity_at)
    values (in_account, in_subject, in_thread_id, in_graph_id, in_thread_name, in_derived_title, in_search_text,
      case when starts then 'running' else 'idle' end, in_run_id, case when starts then here.fence else 0 end,
      moment, moment)
    on conflict (account, subject, thread_id) do update set
      derived_title = coalesce(l.derived_title, excluded.derived_title),
      search_text = case when l.title is null and l.derived_title is null then excluded.search_text
        else l.search_text end,
      status = case when starts then excluded.status else l.status end,
      last_run_id = case when starts then excluded.last_run_id else l.last_run_id end,
      token = case when starts then excluded.token else l.token end,
      last_activity_at = case when starts then greatest(l.last_activity_at, moment) else l.last_activity_at end;
  end if;

  verdict := 'written';
  log_epoch := here.epoch;
  log_head := here.head;
  return next;
end
$function$`;
}

const PARAMETERS = 27;

/** `written`, with the run and the log's head; `stale` and `closed` without. */
export function startRunCall(schema: string): string {
  const parameters = Array.from({ length: PARAMETERS }, (_, index) => `$${index + 1}`);
  const columns = RUN_COLUMNS.map((column) => `(s.run).${column}`);
  return `select s.verdict, s.log_epoch, s.log_head, ${columns.join(", ")}
    from ${schema}.start_run_1(${parameters.join(", ")}) s`;
}
