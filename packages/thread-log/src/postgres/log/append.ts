import { StoreOutage } from "@throughline/ai-core";
import type { StoreAppend, StoreAppendResult } from "../../log/log-store.js";
import { statusAfter } from "../../thread-directory.js";
import { subjectKey } from "../../thread-ref.js";
import { finishParts, openInterrupts, racedSince } from "../registry/finish.js";
import type { EncodedAppend } from "./entry-templates.js";

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

/** Parameters of every append. */
export function appendValues(batch: readonly StoreAppend[], encoded: readonly EncodedAppend[]): unknown[] {
  const owner: number[] = [];
  const indexInAppend: number[] = [];
  const bodies: string[] = [];
  const endOfRun: string[] = [];
  const bytes: number[] = [];
  const templates: string[] = [];
  const counts: number[] = [];
  const sums: number[] = [];
  let hasTerminal = false;
  let hasTemplate = false;
  for (const [index, { entries }] of batch.entries()) {
    const stored = encoded[index]?.entries ?? [];
    let sum = 0;
    for (const [n, entry] of entries.entries()) {
      const own = stored[n];
      owner.push(index + 1);
      indexInAppend.push(n + 1);
      bodies.push(own?.body ?? entry.text);
      endOfRun.push(entry.endOfRun ?? "");
      // Bytes of the whole envelope: bounds in bytes mean what readers get, however it is stored.
      bytes.push(entry.bytes);
      templates.push(own?.template ?? "null");
      sum += entry.bytes;
      hasTerminal ||= entry.endOfRun !== undefined;
      hasTemplate ||= own?.template !== undefined;
    }
    counts.push(entries.length);
    sums.push(sum);
  }
  return [
    ...keysOf(batch),
    numbers(counts),
    numbers(sums),
    numbers(owner),
    numbers(indexInAppend),
    bodies.join(SEPARATOR),
    hasTerminal ? endOfRun.join(SEPARATOR) : null,
    numbers(bytes),
    hasTemplate ? numbers(templates) : null,
  ];
}

/** Further parameters of an append that may write templates. */
export function templateValues(encoded: readonly EncodedAppend[]): readonly (string | null)[] {
  const all = encoded.flatMap(({ templates }, index) =>
    templates.map((template) => ({ ord: index + 1, ...template })),
  );
  if (all.length === 0) return [null, null, null];
  return [
    numbers(all.map(({ ord }) => ord)),
    numbers(all.map(({ id }) => id)),
    all.map(({ parts }) => parts).join(SEPARATOR),
  ];
}

/** Further parameters of `appendAndFinishStatement`; an append that finishes nothing has no run. */
export function finishValues(batch: readonly StoreAppend[]): unknown[] {
  const finishes = batch.map(({ finish }) => finish);
  const [ords, ids] = openInterrupts(finishes);
  return [
    finishes.map((finish) => finish?.runId ?? null),
    finishes.map((finish) => finish?.status ?? null),
    finishes.map((finish) => (finish ? statusAfter(finish) : null)),
    finishes.map((finish) => finish?.upstreamRunId ?? null),
    ords,
    ids,
  ];
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
function numbers(values: readonly (number | bigint | string)[]): string {
  return `{${values.join(",")}}`;
}

function texts(values: readonly string[]): string {
  return `{${values.map(quoted).join(",")}}`;
}

/** Looks before it replaces: ids hardly ever hold what must be escaped. */
function quoted(value: string): string {
  const isPlain = !value.includes('"') && !value.includes("\\");
  return isPlain ? `"${value}"` : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Parses the rows of a commit, by their index in the batch. */
export function parseMoved(moved: string | null): readonly (AppendedRow | undefined)[] {
  const rows: AppendedRow[] = [];
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
    rows[Number(ord) - 1] = { ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes };
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

/** A thread without a row was never opened, or is long gone: an append does not bring it back. */
export function notTaken(append: StoreAppend, row: RefusalRow | undefined): StoreAppendResult {
  if (row?.verdict === "again") return taken(append, row);
  return { ok: false, reason: row?.verdict ?? "deleted" };
}

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

/** The statement of a commit that writes templates, too. Most write none, and even an insert of nothing has its price. */
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
    and t.fence between 1 and a.token and not t.deleted and ${isNewAppend("t", "a")} ${form.condition}
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
function isNewAppend(thread: string, append: string): string {
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

export interface CommitSteps {
  /** Commits a batch, or fails as a whole. */
  readonly write: (batch: readonly StoreAppend[]) => Promise<readonly StoreAppendResult[]>;
  /** Appends of the batch whose thread another session holds right now. */
  readonly findLocked: (batch: readonly StoreAppend[]) => Promise<ReadonlySet<StoreAppend>>;
}

const LOCKED: StoreAppendResult = { ok: false, reason: "locked" };

/** `lock_not_available`, after `lock_timeout`; `deadlock_detected`. */
const LOCK_FAILURES = new Set(["55P03", "40P01"]);

/**
 * Commits a batch without the threads that other sessions hold, which are answered `locked`. A batch is one statement, so a
 * row that is locked makes it fail as a whole: then it is asked which rows these are, and the others are written. What waits
 * for other rows than the thread's own is found by writing one by one.
 */
export async function commitAroundLocks(
  { write, findLocked }: CommitSteps,
  batch: readonly StoreAppend[],
): Promise<readonly StoreAppendResult[]> {
  const written = await unlessLocked(() => write(batch));
  if (written) return written;
  if (batch.length === 1) return [LOCKED];
  const locked = await findLocked(batch);
  const free = batch.filter((append) => !locked.has(append));
  const isSmaller = free.length > 0 && free.length < batch.length;
  const rest = isSmaller ? await unlessLocked(() => write(free)) : undefined;
  const results = rest ?? (await writeOneByOne(write, free));
  const byAppend = new Map(free.map((append, index) => [append, results[index]]));
  return batch.map((append) => byAppend.get(append) ?? LOCKED);
}

async function writeOneByOne(
  write: CommitSteps["write"],
  appends: readonly StoreAppend[],
): Promise<readonly StoreAppendResult[]> {
  const results: StoreAppendResult[] = [];
  for (const append of appends) {
    const written = await unlessLocked(() => write([append]));
    results.push(written?.[0] ?? LOCKED);
  }
  return results;
}

async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isLockFailure(error)) return undefined;
    throw error;
  }
}

function isLockFailure(error: unknown): boolean {
  const cause = error instanceof StoreOutage ? error.cause : error;
  return (
    cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "string" &&
    LOCK_FAILURES.has(cause.code)
  );
}
/**
 * Which of these threads another session holds, by their position in the arrays, from 1. Takes the lock that an append takes
 * on all others, for the length of this statement, and waits for none.
 */
export function lockedThreadsStatement(schema: string): string {
  return `
with asked as (
  select t.log_id, a.ord from unnest($1::text[], $2::text[], $3::text[]) with ordinality as a (account, subject, thread_id, ord)
  join ${schema}.threads t on t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id
), free as materialized (
  select t.log_id from ${schema}.threads t where t.log_id in (select log_id from asked)
  for no key update of t skip locked
)
select ord::int from asked where log_id not in (select log_id from free)`;
}
