import type pg from "pg";
import type { StoreAppend, StoreAppendResult } from "../port/log-store.js";
import { subjectKey } from "../port/thread-ref.js";

/**
 * A whole group commit is one statement, hence one round trip, one transaction, one fsync and one notification, whatever it
 * carries: R21. Per thread it costs one index descent and one update in place, which is comparison of the fence, assignment
 * of `seq` and lock in one; per entry one insert. What is refused is not in the answer; `refusalStatement` asks why.
 *
 * Envelopes travel as one text joined by U+001E, which JSON never holds unescaped: as an array each would be quoted and
 * escaped again, which costs 200 inserts a third more. The answer comes as one text for the same reason: 200 rows of seven
 * columns cost as much to send and to read as the 200 updates themselves.
 *
 * Two commits of two instances that share threads may lock them in opposite order; PostgreSQL then ends one, which is tried
 * again. That takes two leases on each of two threads, so it is not worth a pass of locks in order before every commit.
 */
export function appendStatement(schema: string): string {
  return `
with moved as (
  update ${schema}.threads t
  set head = t.head + a.n, fence = a.token, last_append = a.append_id, held_bytes = t.held_bytes + a.bytes,
    unfolded_bytes = t.unfolded_bytes + a.bytes, updated_at = clock_timestamp()
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[])
    with ordinality as a (account, subject, thread_id, token, append_id, n, bytes, ord)
  where t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id
    and t.fence between 1 and a.token and not t.deleted and t.last_append is distinct from a.append_id
  returning a.ord, a.n, t.log_id, t.epoch, t.head, t.floor, t.held_bytes, t.snapshot_seq, t.unfolded_bytes
), written as (
  insert into ${schema}.entries (log_id, seq, at, bytes, end_of_run, envelope)
  select m.log_id, m.head - m.n + e.n, clock_timestamp(), octet_length(e.envelope), e.end_of_run, e.envelope
  from unnest($8::int[], $9::int[], string_to_array($10, chr(30)), string_to_array($11, chr(30), ''))
    as e (ord, n, envelope, end_of_run)
  join moved m on m.ord = e.ord
)
select
  string_agg(concat_ws(' ', ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes), ',') as moved,
  (select pg_notify($12, $13) from moved limit 1)::text as told
from moved`;
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

export interface AppendedRow {
  readonly ord: string | number;
  readonly epoch: string;
  readonly head: string;
  readonly floor: string;
  readonly held_bytes: string;
  readonly snapshot_seq: string;
  readonly unfolded_bytes: string;
}

export interface RefusalRow extends AppendedRow {
  readonly verdict: "deleted" | "fenced" | "again";
}

const SEPARATOR = "\u001e";

export function appendQuery(
  text: string,
  name: string,
  batch: readonly StoreAppend[],
  channel: string,
  payload: string,
): pg.QueryConfig {
  const owner: number[] = [];
  const place: number[] = [];
  const envelopes: string[] = [];
  const endOfRun: string[] = [];
  let terminals = false;
  batch.forEach(({ entries }, index) => {
    entries.forEach((entry, n) => {
      owner.push(index + 1);
      place.push(n + 1);
      envelopes.push(entry.text);
      endOfRun.push(entry.endOfRun ?? "");
      terminals ||= entry.endOfRun !== undefined;
    });
  });
  return {
    name,
    text,
    values: [
      ...keysOf(batch),
      numbers(batch.map(({ entries }) => entries.length)),
      numbers(batch.map(({ entries }) => entries.reduce((sum, entry) => sum + entry.bytes, 0))),
      numbers(owner),
      numbers(place),
      envelopes.join(SEPARATOR),
      terminals ? endOfRun.join(SEPARATOR) : null,
      channel,
      payload,
    ],
  };
}

export function keysOf(batch: readonly StoreAppend[]): string[] {
  return [
    texts(batch.map(({ thread }) => thread.account)),
    texts(batch.map(({ thread }) => subjectKey(thread))),
    texts(batch.map(({ thread }) => thread.threadId)),
    numbers(batch.map(({ token }) => token)),
    texts(batch.map(({ appendId }) => appendId)),
  ];
}

/** Arrays as PostgreSQL writes them: `pg` looks at each element's type first, which costs more than the statement's parse. */
function numbers(values: readonly (number | bigint)[]): string {
  return `{${values.join(",")}}`;
}

function texts(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** By place in the batch. */
export function parseMoved(moved: string | null): Map<number, AppendedRow> {
  const rows = new Map<number, AppendedRow>();
  for (const line of moved?.split(",") ?? []) {
    const [
      ord = "",
      epoch = "",
      head = "",
      floor = "",
      held_bytes = "",
      snapshot_seq = "",
      unfolded_bytes = "",
    ] = line.split(" ");
    rows.set(Number(ord) - 1, { ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes });
  }
  return rows;
}

export function taken(append: StoreAppend, row: AppendedRow): StoreAppendResult {
  const last = Number(row.head);
  return {
    ok: true,
    epoch: row.epoch,
    first: last - append.entries.length + 1,
    last,
    unfolded: { entries: last - Number(row.snapshot_seq), bytes: Number(row.unfolded_bytes) },
    held: { entries: last - Number(row.floor) + 1, bytes: Number(row.held_bytes) },
  };
}

/** A thread without a row was never opened, or is long gone: nobody may bring it back by appending. */
export function notTaken(append: StoreAppend, row: RefusalRow | undefined): StoreAppendResult {
  if (row?.verdict === "again") return taken(append, row);
  return { ok: false, reason: row?.verdict ?? "deleted" };
}
