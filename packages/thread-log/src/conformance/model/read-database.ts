import { createSimulatedClock, type GraphRunStart, type Json, type JsonObject } from "@throughline/ai-core";
import type pg from "pg";
import type { Snapshot } from "../../log/thread-log.js";
import { createMemoryDatabase, type MemoryDatabase, type MemoryThread } from "../../memory/database.js";
import { stopKey } from "../../memory/start-run.js";
import type { RegistryStatus, RunOrigin } from "../../registry/run-registry.js";
import type { ThreadStatus } from "../../thread-directory.js";
import { type ThreadRef, threadKey } from "../../thread-ref.js";

interface Key {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
}

interface ThreadRow extends Key {
  readonly state_key: string;
  readonly epoch: string;
  readonly fence: number;
  readonly deleted: boolean;
  readonly revision: number;
  readonly head: number;
  readonly floor: number;
  readonly compacted: number;
  readonly last_append: string | null;
  readonly held_bytes: number;
  readonly unfolded_bytes: number;
  readonly snapshot_seq: number;
  readonly entries: readonly { seq: number; bytes: number; end_of_run: string | null; envelope: string }[];
  readonly snapshots: readonly { fold_version: number; seq: number; state: string }[];
}

interface RunRow extends Key {
  readonly run_id: string;
  readonly alias: string | null;
  readonly graph_id: string;
  readonly origin_kind: RunOrigin["kind"];
  readonly origin_id: string | null;
  readonly status: RegistryStatus;
  readonly start: string | null;
  readonly request: string;
  readonly attempt: number;
  readonly crashes: number;
  readonly presumed_dead: number | null;
  readonly owner: string | null;
  readonly fence: number;
  /** Seconds; `-Infinity` as text. */
  readonly lease_until: number | string | null;
  readonly upstream_run_id: string | null;
  readonly stop_requested: boolean;
  readonly preempts: boolean;
  readonly created_at: number;
  readonly ended_at: number | string | null;
}

interface ListingRow extends Key {
  readonly graph_id: string;
  readonly thread_name: string;
  readonly title: string | null;
  readonly derived_title: string | null;
  readonly archived: boolean;
  readonly status: ThreadStatus;
  readonly last_run_id: string;
  readonly token: number;
}

interface Whole {
  readonly now: number;
  readonly last_token: number;
  readonly threads: readonly ThreadRow[];
  readonly runs: readonly RunRow[];
  readonly interrupts: readonly (Key & {
    interrupt_id: string;
    run_id: string;
    answered_by: string | null;
    answer: string | null;
  })[];
  readonly stops: readonly (Key & { run_name: string })[];
  readonly listings: readonly ListingRow[];
  readonly closures: readonly {
    closure_id: string;
    account: string;
    subject: string | null;
    thread_id: string | null;
  }[];
}

/** One statement, so one moment. */
const WHOLE = `select json_build_object(
  'now', extract(epoch from clock_timestamp()),
  'last_token', (select case when is_called then last_value else 0 end from throughline.fences),
  'threads', (select coalesce(json_agg(row), '[]') from (
    select t.*,
      (select coalesce(json_agg(json_build_object('seq', e.seq, 'bytes', e.bytes, 'end_of_run', e.end_of_run,
        'envelope', e.envelope) order by e.seq), '[]') from throughline.entries e where e.log_id = t.log_id) as entries,
      (select coalesce(json_agg(s order by s.seq), '[]') from throughline.snapshots s where s.log_id = t.log_id)
        as snapshots
    from throughline.threads t) row),
  'runs', (select coalesce(json_agg(row order by row.arrival), '[]') from (
    select r.run_id, r.account, r.subject, r.thread_id, r.alias, r.graph_id, r.origin_kind, r.origin_id, r.status, r.start,
      r.request, r.attempt, r.crashes, r.presumed_dead, r.owner, r.fence, r.upstream_run_id, r.stop_requested, r.preempts,
      r.arrival, extract(epoch from r.lease_until) as lease_until, extract(epoch from r.created_at) as created_at,
      extract(epoch from r.ended_at) as ended_at from throughline.runs r) row),
  'interrupts', (select coalesce(json_agg(i), '[]') from throughline.interrupts i),
  'stops', (select coalesce(json_agg(s), '[]') from throughline.stops s where s.expires_at > clock_timestamp()),
  'listings', (select coalesce(json_agg(l), '[]') from throughline.thread_listings l),
  'closures', (select coalesce(json_agg(c), '[]') from throughline.closures c)
) as whole`;

/** Everything the log and the registry hold, in the reference's own form: what it answers next can be computed from it. */
export async function readDatabase(client: pg.Client): Promise<MemoryDatabase> {
  const { rows } = await client.query<{ whole: Whole }>({ name: "read_whole", text: WHOLE });
  const whole = rows[0]?.whole;
  if (!whole) throw new Error("this statement always gives back a row");
  const now = Math.ceil(whole.now * 1_000);
  const database = createMemoryDatabase(createSimulatedClock(now));
  database.lastToken = BigInt(whole.last_token);
  for (const row of whole.threads) database.threads.set(threadKey(refOf(row)), threadOf(row, now));
  for (const row of whole.runs) {
    database.runs.set(row.run_id, {
      thread: refOf(row),
      runId: row.run_id,
      alias: row.alias ?? undefined,
      graphId: row.graph_id,
      origin: { kind: row.origin_kind, ...(row.origin_id === null ? {} : { id: row.origin_id }) },
      // Written by this package.
      request: JSON.parse(row.request) as JsonObject,
      start: row.start === null ? undefined : (JSON.parse(row.start) as GraphRunStart),
      createdAt: row.created_at * 1_000,
      preempts: row.preempts,
      status: row.status,
      attempt: row.attempt,
      crashes: row.crashes,
      presumedDead: row.presumed_dead === null ? undefined : BigInt(row.presumed_dead),
      owner: row.owner ?? undefined,
      token: BigInt(row.fence),
      leaseUntil: timeOf(row.lease_until),
      upstreamRunId: row.upstream_run_id ?? undefined,
      stopRequested: row.stop_requested,
      endedAt: timeOf(row.ended_at),
    });
  }
  for (const row of whole.interrupts) {
    const key = threadKey(refOf(row));
    const known = database.interrupts.get(key) ?? new Map();
    database.interrupts.set(key, known);
    known.set(row.interrupt_id, {
      interruptId: row.interrupt_id,
      runId: row.run_id,
      answeredBy: row.answered_by ?? undefined,
      answer: row.answer ?? undefined,
    });
  }
  for (const row of whole.stops) database.stops.set(stopKey(refOf(row), row.run_name), now + 60_000);
  for (const row of whole.listings) {
    database.listings.set(threadKey(refOf(row)), {
      thread: refOf(row),
      graphId: row.graph_id,
      threadName: row.thread_name,
      createdAt: now,
      title: row.title ?? undefined,
      derivedTitle: row.derived_title ?? undefined,
      isArchived: row.archived,
      // No command of the model writes these two.
      forkedFrom: undefined,
      model: undefined,
      status: row.status,
      lastRunId: row.last_run_id,
      token: BigInt(row.token),
      lastActivityAt: now,
    });
  }
  for (const row of whole.closures) {
    const { account, subject, thread_id } = row;
    database.closures.set(row.closure_id, {
      account,
      subject: subject ?? undefined,
      threadId: thread_id ?? undefined,
    });
  }
  return database;
}

function threadOf(row: ThreadRow, now: number): MemoryThread {
  const snapshots = new Map<number, readonly Snapshot[]>();
  for (const { fold_version, seq, state } of row.snapshots) {
    const position = { epoch: row.epoch, seq };
    const snapshot = { position, foldVersion: fold_version, state: JSON.parse(state) as Json };
    snapshots.set(fold_version, [snapshot, ...(snapshots.get(fold_version) ?? [])]);
  }
  const newest = Math.max(0, ...row.snapshots.map(({ seq }) => seq));
  if (newest !== row.snapshot_seq) {
    throw new Error(
      `${row.thread_id}: snapshot_seq is ${row.snapshot_seq}, the newest snapshot's is ${newest}`,
    );
  }
  return {
    thread: refOf(row),
    createdAt: now,
    stateKey: row.state_key,
    updatedAt: now,
    epoch: row.epoch,
    fence: BigInt(row.fence),
    deleted: row.deleted,
    revision: row.revision,
    head: row.head,
    floor: row.floor,
    compacted: row.compacted,
    lastAppendId: row.last_append ?? undefined,
    heldBytes: row.held_bytes,
    unfoldedBytes: row.unfolded_bytes,
    entries: row.entries.map(({ seq, bytes, end_of_run, envelope }) => ({
      seq,
      at: now - 1,
      bytes,
      endOfRun: end_of_run ?? undefined,
      text: envelope,
    })),
    snapshots,
  };
}

function refOf({ account, subject, thread_id }: Key): ThreadRef {
  return { account, ...(subject === "" ? {} : { subject }), threadId: thread_id };
}

function timeOf(seconds: number | string | null): number | undefined {
  return seconds === null ? undefined : Number(seconds) * 1_000;
}
