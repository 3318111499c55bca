import type { GraphRunStart, JsonObject } from "@throughline/ai-core";
import type { LeasedRun, RegistryStatus, RunOrigin, RunRecord } from "../port/run-registry.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";

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
  readonly owner: string | null;
  readonly fence: string;
  readonly lease_until: Date | number | null;
  readonly upstream_run_id: string | null;
  readonly stop_requested: boolean;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

export const RUN_COLUMNS = `run_id, account, subject, thread_id, alias, graph_id, origin_kind, origin_id, status, start,
  request, attempt, owner, fence, lease_until, upstream_run_id, stop_requested, created_at, ended_at`;

export function toRecord(row: RunRow): RunRecord {
  return {
    thread: threadOf(row),
    runId: row.run_id,
    alias: row.alias ?? undefined,
    graphId: row.graph_id,
    origin: { kind: row.origin_kind, ...(row.origin_id === null ? {} : { id: row.origin_id }) },
    status: row.status,
    // Only `start` of this registry writes these two.
    start: row.start === null ? undefined : (JSON.parse(row.start) as GraphRunStart),
    request: JSON.parse(row.request) as JsonObject,
    attempt: row.attempt,
    owner: row.owner ?? undefined,
    // A released lease is `-infinity`, which `pg` gives as a number.
    leaseUntil: row.lease_until === null ? undefined : Number(row.lease_until),
    upstreamRunId: row.upstream_run_id ?? undefined,
    stopRequested: row.stop_requested,
    createdAt: row.created_at.getTime(),
    endedAt: row.ended_at?.getTime(),
  };
}

export function toLeased(row: RunRow): LeasedRun {
  const fence = { threadId: row.thread_id, runId: row.run_id, token: BigInt(row.fence) };
  return { run: toRecord(row), fence };
}

export function threadOf(row: Pick<RunRow, "account" | "subject" | "thread_id">): ThreadRef {
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
