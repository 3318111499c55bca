import type { Fence, GraphRunStart, JsonObject } from "@throughline/ai-core";
import type { BadRow, LeasedRun, RegistryStatus, RunOrigin, RunRecord } from "../../registry/run-registry.js";
import { subjectKey, type ThreadRef } from "../../thread-ref.js";

/** The `RUN_COLUMNS` of a run. */
export interface RunRow {
  readonly run_id: string;
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly alias: string | null;
  readonly graph_id: string;
  readonly origin_kind: RunOrigin["kind"];
  readonly origin_id: string | null;
  readonly status: RegistryStatus;
  readonly start: string | null;
  readonly request: string;
  readonly attempt: number;
  readonly crashes: number;
  readonly owner: string | null;
  readonly fence: string;
  readonly lease_until: Date | number | null;
  readonly upstream_run_id: string | null;
  readonly stop_requested: boolean;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** A row of a run that was leased, with the head of its log at that moment. */
export interface LeasedRow extends RunRow {
  readonly log_epoch: string;
  readonly log_head: string;
}

/** Throws for a row whose JSON another version wrote, or something broke. */
export function toRecord(row: RunRow): RunRecord {
  return {
    ...withoutPayload(row),
    // Only `start` of this registry writes these two; what is in the request, its driver checks.
    start: row.start === null ? undefined : (parseObject(row.start, "kind") as unknown as GraphRunStart),
    request: parseObject(row.request),
  };
}

/** The record of a run whose JSON can't be read: everything but its start and request. */
export function withoutPayload(row: RunRow): RunRecord {
  return {
    thread: threadOf(row),
    runId: row.run_id,
    alias: row.alias ?? undefined,
    graphId: row.graph_id,
    origin: { kind: row.origin_kind, ...(row.origin_id === null ? {} : { id: row.origin_id }) },
    status: row.status,
    start: undefined,
    request: {},
    attempt: row.attempt,
    crashes: row.crashes,
    owner: row.owner ?? undefined,
    token: BigInt(row.fence),
    // A released lease is `-infinity`, which `pg` gives as a number.
    leaseUntil: row.lease_until === null ? undefined : Number(row.lease_until),
    upstreamRunId: row.upstream_run_id ?? undefined,
    stopRequested: row.stop_requested,
    createdAt: row.created_at.getTime(),
    endedAt: row.ended_at?.getTime(),
  };
}

function parseObject(text: string, ...keys: readonly string[]): JsonObject {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new TypeError("The row holds JSON that is not an object.");
  }
  for (const key of keys) if (!(key in parsed)) throw new TypeError(`The row's JSON lacks "${key}".`);
  return parsed as JsonObject;
}

/** The rows that can be read. One that can't is reported and left out, so that it harms no other. */
export function toRecords(rows: readonly RunRow[], onBadRow: (row: BadRow) => void): RunRecord[] {
  return rows.flatMap((row) => {
    try {
      return [toRecord(row)];
    } catch (error) {
      onBadRow({ table: "runs", id: row.run_id, error });
      return [];
    }
  });
}

export function toLeased(row: LeasedRow): LeasedRun {
  return {
    run: toRecord(row),
    fence: fenceOf(row),
    head: { epoch: row.log_epoch, seq: Number(row.log_head) },
  };
}

export function fenceOf(row: Pick<RunRow, "thread_id" | "run_id" | "fence">): Fence {
  return { threadId: row.thread_id, runId: row.run_id, token: BigInt(row.fence) };
}

function threadOf(row: Pick<RunRow, "account" | "subject" | "thread_id">): ThreadRef {
  return {
    account: row.account,
    ...(row.subject === "" ? {} : { subject: row.subject }),
    threadId: row.thread_id,
  };
}

export function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
/** The condition of every statement about one thread: its first three parameters. */
export const SAME_THREAD = "account = $1 and subject = $2 and thread_id = $3";
/** R24: the order in which waiting runs are taken. */
export const QUEUE_ORDER = "preempts desc, arrival";
/** The time of a listing, to the millisecond, as in a page token: digits that the token lacks could not be compared with it. */
export const NOW_OF_LISTING = "date_trunc('milliseconds', clock_timestamp())";

/** Columns of a `RunRow`. */
export const RUN_COLUMNS = [
  "run_id",
  "account",
  "subject",
  "thread_id",
  "alias",
  "graph_id",
  "origin_kind",
  "origin_id",
  "status",
  "start",
  "request",
  "attempt",
  "crashes",
  "owner",
  "fence",
  "lease_until",
  "upstream_run_id",
  "stop_requested",
  "created_at",
  "ended_at",
] as const;
/**
 * R17: one row while a run holds its thread under a token, none otherwise. Locks the run's row against being changed until
 * the transaction ends: a takeover changes it, so it comes before this or after the write that this is a part of. Parameters:
 * `$first` (run id) and the one after it (token).
 */
export function heldQuery(schema: string, first: number): string {
  return `select 1 from ${schema}.runs r
    join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
    where r.run_id = $${first}::text and r.fence = $${first + 1}::bigint and r.status = 'running' and t.fence = r.fence
    for share of r`;
}
