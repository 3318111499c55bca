import { finishParts, racedSince } from "./finish-runs.js";

/**
 * A whole group commit is one statement, hence one round trip, one transaction and one fsync, whatever it carries: R21. Per
 * thread it costs one index descent and one update in place, which is comparison of the fence, assignment of `seq` and lock
 * in one; per entry one insert. What is refused is not in the answer; `refusalStatement` asks why.
 *
 * Bodies of entries, which are envelopes or the holes of a template, travel as one text joined by U+001E, which JSON never
 * holds unescaped: as an array each would be quoted and escaped again, which costs 200 inserts a third more. The answer comes as one text for the same reason: 200 rows of seven
 * columns cost as much to send and to read as the 200 updates themselves.
 *
 * Two commits of two instances that share threads may lock them in opposite order; PostgreSQL then ends one, which is tried
 * again. That takes two leases on each of two threads, so it is not worth a pass of locks in order before every commit.
 */
export function appendStatement(schema: string): string {
  return append(schema, APPEND);
}

/** The same for a commit that writes templates, too. Most write none, and even an insert of nothing has its price. */
export function appendWithTemplatesStatement(schema: string): string {
  return append(schema, { ...APPEND, parts: templateParts(schema) });
}

const APPEND: AppendForm = {
  asked: `unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[])
    with ordinality as a (account, subject, thread_id, token, append_id, n, bytes, ord)`,
  alsoSet: "",
  condition: "",
  alsoReturned: "",
  parts: "",
  answer: "",
};

/**
 * The same for a commit in which runs end: a reader of a `run_end` finds its run ended. Locks the threads, then the runs
 * that end. An append that finishes a run which is not held under its token is refused. `finished` in the answer is JSON,
 * because ids of runs are not ours to split.
 */
export function appendAndFinishStatement(schema: string): string {
  return append(schema, {
    asked: `unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[],
      $17::text[], $18::text[], $19::text[], $20::text[])
    with ordinality as a (account, subject, thread_id, token, append_id, n, bytes,
      run_id, end_status, listing_status, upstream_run_id, ord)`,
    alsoSet: ", revision = t.revision + case when a.run_id is null then 0 else 1 end",
    condition: `and (a.run_id is null or exists (
      select 1 from ${schema}.runs r where r.run_id = a.run_id and r.fence = a.token and r.status = 'running'))`,
    alsoReturned: `, t.account, t.subject, t.thread_id, ${racedSince(schema)}, a.run_id, a.token, a.end_status,
    a.listing_status, a.upstream_run_id, true as closes`,
    parts: `${templateParts(schema)}, ${finishParts(schema, "moved", ["$21", "$22"])}`,
    answer: `, (select json_agg(json_build_object('ord', ord, 'next', next, 'raced', raced)) from finished) as finished`,
  });
}

interface AppendForm {
  readonly asked: string;
  readonly alsoSet: string;
  readonly condition: string;
  readonly alsoReturned: string;
  readonly parts: string;
  readonly answer: string;
}

function append(schema: string, form: AppendForm): string {
  return `
with moved as (
  update ${schema}.threads t
  set head = t.head + a.n, fence = a.token, last_append = a.append_id, held_bytes = t.held_bytes + a.bytes,
    unfolded_bytes = t.unfolded_bytes + a.bytes, updated_at = clock_timestamp() ${form.alsoSet}
  from ${form.asked}
  where t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id
    and t.fence between 1 and a.token and not t.deleted and ${isNews("t", "a")} ${form.condition}
  returning a.ord, a.n, t.log_id, t.fence, t.epoch, t.head, t.floor, t.held_bytes, t.snapshot_seq, t.unfolded_bytes
    ${form.alsoReturned}
), written as (
  insert into ${schema}.log_entries (log_id, seq, at, bytes, end_of_run, template, body)
  select m.log_id, m.head - m.n + e.n, clock_timestamp(), e.bytes, e.end_of_run, e.template, e.body
  from unnest($8::int[], $9::int[], string_to_array($10, chr(30)), string_to_array($11, chr(30), ''), $12::int[], $13::bigint[])
    as e (ord, n, body, end_of_run, bytes, template)
  join moved m on m.ord = e.ord
)${form.parts}
select
  string_agg(concat_ws(' ', ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes), ',') as moved ${form.answer}
from moved`;
}

function templateParts(schema: string): string {
  return `, shaped as (
  insert into ${schema}.entry_templates (log_id, id, token, first_seq, parts)
  select m.log_id, p.id, m.fence, m.head - m.n + 1, p.parts
  from unnest($14::int[], $15::bigint[], string_to_array($16, chr(30))) as p (ord, id, parts)
  join moved m on m.ord = p.ord
  on conflict do nothing
)`;
}

/**
 * Ids of appends are a writer's name of 13 characters and a count of fixed width, so that they compare as the writer's
 * commits: one that arrives after its retry and the next commit is as old news as one that arrives twice.
 */
function isNews(thread: string, append: string): string {
  const [last, asked] = [`${thread}.last_append`, `${append}.append_id`];
  return `(${last} is null or left(${last}, 13) <> left(${asked}, 13) or ${last} < ${asked})`;
}

/** Why an append was not taken: no row or a tombstone, a newer fence, or because it was there already (`again`). */
export function refusalStatement(schema: string): string {
  return `
select a.ord::int, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes,
  case when t.deleted or t.fence = 0 then 'deleted' when t.last_append = a.append_id then 'again'
    else 'fenced' end as verdict
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
  with ordinality as a (account, subject, thread_id, token, append_id, ord)
join ${schema}.threads t on t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id`;
}
