import type { Fence, GraphRunStart, JsonObject, LogPosition } from "@throughline/ai-core";
import type { ThreadRef } from "./thread-ref.js";

export const FINAL_STATUSES = ["success", "interrupted", "cancelled", "error", "lost"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type RegistryStatus = "queued" | "running" | FinalStatus;

export interface RunOrigin {
  readonly kind: "client" | "cron" | "foreign";
  readonly id?: string | undefined;
}

export interface RunRecord {
  readonly thread: ThreadRef;
  readonly runId: string;
  /** R25: the client's own id of the run, unique within its thread. */
  readonly alias: string | undefined;
  readonly graphId: string;
  readonly origin: RunOrigin;
  readonly status: RegistryStatus;
  /** Kept until the run ends: a run that is recovered before its first checkpoint begins anew from it (R27). */
  readonly start: GraphRunStart | undefined;
  /** Whatever else a driver on any instance needs in order to run it: caller, model, tools, context, profile. */
  readonly request: JsonObject;
  /** Recoveries so far, for whatever reason: numbers the attempts in the log. */
  readonly attempt: number;
  /** Recoveries of a lease that ran out without being released: the crash budget is spent by these alone. */
  readonly crashes: number;
  readonly owner: string | undefined;
  /** Of its lease; 0 while it was never leased. */
  readonly token: bigint;
  /** While it runs: when its lease runs out, by the store's clock. Past that it is stuck, not active. */
  readonly leaseUntil: number | undefined;
  readonly upstreamRunId: string | undefined;
  readonly stopRequested: boolean;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly endedAt: number | undefined;
}

export type RunName = { readonly runId: string } | { readonly alias: string };

export interface Lease {
  /** Names the instance. */
  readonly owner: string;
  /** How long the run stays ours without a heartbeat, by the store's clock. */
  readonly leaseMs: number;
}

/** A run and the lease on it. The thread's log is open for the fence: its holder may append at once. */
export interface LeasedRun {
  readonly run: RunRecord;
  readonly fence: Fence;
  /** Where the log stood when the lease was taken. */
  readonly head: LogPosition;
}
