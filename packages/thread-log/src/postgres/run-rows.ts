import type { Fence, GraphRunStart, JsonObject } from "@throughline/ai-core";
import type { LeasedRun, RegistryStatus, RunOrigin, RunRecord } from "../port/run-record.js";
import type { BadRow } from "../port/run-registry.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";

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

/** Of a run that was leased: where its log stood then. */
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

/** What can be told of a run whose JSON can't be read. */
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
