import type { ErrorClass, ErrorCode, RunStatus, StoreOutage } from "@throughline/ai-core";
import type { Picodollars, ReconcileReport, UnpricedReason } from "@throughline/billing";
import type { BusState, BusTraffic, RunRecord } from "@throughline/thread-log";
import { z } from "zod";

/**
 * The reason for which a driver leaves a run that has not ended. `lost_lease`: another instance has recovered it.
 * `lease_expired`: by this process' own clock the lease may be gone. `stalled`: a store did not accept a write for so long that
 * another instance may fare better. `failed`: an error that a later attempt may not meet. `deleted`: its thread is gone.
 */
export type AbandonReason = "lost_lease" | "lease_expired" | "deleted" | "handed_over" | "stalled" | "failed";

type TickKind = "started" | "skipped" | "failed" | "missed";

export type ReplayKind = "prelude" | "resume" | "run" | "replay";

/** A call of a run whose start and end are in the log. */
export interface ObservedCall {
  readonly callId: string;
  readonly kind: "model" | "tool";
}

/** The failure of a run. */
export interface GraphFailure {
  /** The error as thrown: its message is a graph's, and may contain anything. */
  readonly error: unknown;
  readonly class: ErrorClass | undefined;
  readonly node: string | null;
}

/** A stored row that could not be decoded and is set aside: claims and listings skip it. */
export interface BadRow {
  /** `crons`, `cron_ticks` or `runs`; a label of a metric. */
  readonly table: string;
  readonly id: string;
  /** The reason why it could not be decoded. */
  readonly error?: unknown;
}

/** Rows that a round of retention deleted, by kind; the kinds are a label of a metric. */
export interface Swept {
  readonly entries: number;
  /** Entries that compaction merged into others. */
  readonly merged: number;
  readonly runs: number;
  /** Rows of threads without any run. */
  readonly threads: number;
  readonly checkpoints: number;
  readonly blobs: number;
  readonly writes: number;
  /** Receipts of deletions. */
  readonly receipts: number;
}

export const NOTHING_SWEPT: Swept = {
  entries: 0,
  merged: 0,
  runs: 0,
  threads: 0,
  checkpoints: 0,
  blobs: 0,
  writes: 0,
  receipts: 0,
};

export interface FilesSwept {
  /** Files that no message referenced in time. */
  readonly unnamed: number;
  /** Files whose upload was never finished. */
  readonly unfinished: number;
  /** Files whose thread was deleted or never began. */
  readonly orphaned: number;
  /** Contents without an attachment. */
  readonly stray: number;
}

/** An event of a model call or of its price. */
export type BillingEvent =
  | { readonly kind: "priced"; readonly amount: Picodollars }
  | { readonly kind: "in_doubt"; readonly reason: UnpricedReason }
  /** The call was not sent. */
  | { readonly kind: "refused"; readonly code: ErrorCode }
  /** A price could not be written, or a run's sum not be read; reconciliation finds it. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** A model other than the requested one responded. */
  | { readonly kind: "served_other" }
  /** A model other than the requested one responded, and it is not on the tenant's list. */
  | { readonly kind: "served_unlisted"; readonly model: string }
  /** A request that resembles a model call went to another host. */
  | { readonly kind: "escaped"; readonly origin: string }
  /** A run called a model, but no request of it passed the meter. */
  | { readonly kind: "unmetered" }
  | { readonly kind: "near_budget"; readonly account: string }
  /** A line of LiteLLM's log that can't be read. */
  | { readonly kind: "bad_line" }
  /** LiteLLM's log did not show these calls of a LangGraph server's run in time. */
  | {
      readonly kind: "billing_failed";
      readonly runId: string;
      readonly account: string;
      readonly calls: number;
    }
  | { readonly kind: "reconciled"; readonly report: ReconcileReport };

/** The source of metrics, logs and spans. Called synchronously from hot paths: an observer must be quick and never throw. */
export interface ServiceObserver {
  runStarted(run: RunLabels): void;
  /** Calls `work`, which runs the graph of a started run, in that run's tracing context. */
  within<Result>(run: RunLabels, work: () => Result): Result;
  runEnded(run: RunLabels & { readonly status: RunStatus | "lost" }): void;
  /** Called before `runEnded` of a run that failed. */
  graphFailed(run: RunLabels, failure: GraphFailure): void;
  /** This instance no longer drives the run, and did not end it. */
  runLeft(run: RunLabels & { readonly why: AbandonReason }): void;
  startRefused(kind: "busy" | "conflict" | "interrupt_pending"): void;
  /** This instance recovers a run that another attempt left. */
  recovered(run: RunLabels): void;
  /** The run made progress: an entry of it goes into the log. */
  entryRecorded(run: RunLabels): void;
  /** A node of the run's graph began. A model call is seen when its first piece comes; until then only its step is. */
  stepStarted(run: RunLabels, callId: string): void;
  stepEnded(run: RunLabels, callId: string): void;
  callStarted(run: RunLabels, call: ObservedCall): void;
  callEnded(run: RunLabels, call: ObservedCall): void;
  appendRefused(reason: "fenced" | "deleted"): void;
  entriesAppended(count: number): void;
  subscriberJoined(how: ReplayKind): void;
  subscriberLeft(): void;
  /** R3: a cursor could not be served. */
  gap(): void;
  /** The outcome of a cron's tick, and the number of missed ticks before it. */
  cronTicked(tick: { readonly outcome: TickKind; readonly missed: number }): void;
  /** R20: the rows that a round over all threads deleted. */
  swept(deleted: Swept): void;
  /** Files without a message that were deleted, by kind. */
  filesSwept(swept: FilesSwept): void;
  /** Called once for each row, by the instance that sets it aside. */
  badRow(row: BadRow): void;
  /** A driver waits for a store. Called before each retry. */
  storeUnavailable(outage: StoreOutage): void;
  /** The lead of this instance's clock over the database's; negative where it is behind. */
  clockCompared(errorMs: number): void;
  billed(event: BillingEvent): void;
  /** The bus between instances was reached, or lost. */
  busChanged(state: BusState): void;
  /** A message was sent, was received, or could not be sent. */
  busMessage(traffic: BusTraffic): void;
  /** A warning for operators that is no failure. Fixed text. */
  noticed(message: string): void;
  /**
   * A failure that no request waits for. `message` is fixed text; the error itself may contain anything. `run`: the one it
   * happened to.
   */
  failed(message: string, error: unknown, run?: RunLabels): void;
}

export const silentObserver: ServiceObserver = {
  runStarted() {},
  within: (_, work) => work(),
  runEnded() {},
  graphFailed() {},
  runLeft() {},
  startRefused() {},
  recovered() {},
  entryRecorded() {},
  stepStarted() {},
  stepEnded() {},
  callStarted() {},
  callEnded() {},
  appendRefused() {},
  entriesAppended() {},
  subscriberJoined() {},
  subscriberLeft() {},
  gap() {},
  cronTicked() {},
  swept() {},
  filesSwept() {},
  badRow() {},
  storeUnavailable() {},
  clockCompared() {},
  billed() {},
  busChanged() {},
  busMessage() {},
  noticed() {},
  failed() {},
};

/** The labels of a run on every hop, in logs and spans. Never its contents. */
export interface RunLabels {
  readonly runId: string;
  readonly graphId: string;
  readonly account: string;
  readonly traceId: string;
  readonly attempt: number;
  /** The trace of the request that started it, which may have reached another instance. */
  readonly traceparent: string | undefined;
}

const notedSchema = z.object({
  caller: z.object({ traceId: z.string() }),
  traceparent: z.string().optional(),
});

/** Reads the labels of a run. Requires little of the row: a run that can't be driven must still be named in the report. */
export function runLabelsOf({ runId, graphId, thread, attempt, request }: RunRecord): RunLabels {
  const noted = notedSchema.safeParse(request).data;
  return {
    runId,
    graphId,
    account: thread.account,
    traceId: noted?.caller.traceId ?? "unknown",
    attempt,
    traceparent: noted?.traceparent,
  };
}
