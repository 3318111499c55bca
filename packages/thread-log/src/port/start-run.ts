import type { GraphRunStart, JsonObject, LogPosition } from "@throughline/ai-core";
import type { Lease, LeasedRun, RunOrigin, RunRecord } from "./run-record.js";
import type { ThreadRef } from "./thread-ref.js";

/**
 * R24: what to do when the thread has an open run. `preempt` stops it and goes before everything that waits; it is the way
 * out, so it also sets aside a question that was not answered.
 */
export type BusyStrategy = "reject" | "enqueue" | "preempt";

/** What a list of threads shows of the run's thread. */
export interface RunListing {
  readonly threadName: string;
  /** The title where the thread has none yet. */
  readonly derivedTitle: string | undefined;
}

export interface StartRun extends Lease {
  readonly thread: ThreadRef;
  readonly stateKey: string;
  readonly runId: string;
  readonly alias?: string | undefined;
  readonly graphId: string;
  readonly origin: RunOrigin;
  readonly start: GraphRunStart;
  readonly request: JsonObject;
  readonly upstreamRunId?: string | undefined;
  readonly strategy: BusyStrategy;
  readonly listing: RunListing;
  /** The answer to the same request was lost: a run that it has started is still the caller's to drive. */
  readonly isRetry?: boolean;
}

export interface KnownInterrupt {
  readonly interruptId: string;
  /** Unanswered while `undefined`. */
  readonly answeredBy: string | undefined;
  /** As `canonicalJson`. */
  readonly answer: string | undefined;
}

/** What decides whether a run may start in its thread. */
export interface ThreadRuns {
  /** A run with the request's id or alias. */
  readonly same: string | undefined;
  /** A stop came first. */
  readonly stopped: boolean;
  readonly running: string | undefined;
  /** In the order in which they will run. */
  readonly queued: readonly string[];
  /** How many of them preempt. */
  readonly preempting: number;
  /** The open ones, and those the request answers. */
  readonly interrupts: readonly KnownInterrupt[];
}

export interface LookRequest {
  readonly thread: ThreadRef;
  readonly runId: string;
  readonly alias?: string | undefined;
  /** Ids of the interrupts that the request answers. */
  readonly answers: readonly string[];
  /** Whose open runs are counted. Default: the thread's account. */
  readonly account?: string | undefined;
}

/** Everything a start needs to know before it writes, as of one moment. */
export interface StartLook {
  readonly runs: ThreadRuns;
  /** The run that `runs.same` names. */
  readonly same: RunRecord | undefined;
  /** Grows with every change of the thread's runs, stops and interrupts; 0 for a thread that is not there. */
  readonly revision: number;
  /** Of the log; `undefined` when there is no such thread. */
  readonly head: LogPosition | undefined;
  /** Running and waiting runs of the account. */
  readonly openRuns: number;
  /** The thread's scope is closed: nothing may start in it. */
  readonly isClosed: boolean;
  /** The model that the thread's runs use when they name none. */
  readonly model: string | undefined;
}

export type StartResult =
  | ({ readonly kind: "started" } & LeasedRun)
  /** `ahead`: open and waiting runs before this one. `preempted`: the run that was asked to stop for it. */
  | {
      readonly kind: "queued";
      readonly run: RunRecord;
      readonly ahead: number;
      readonly preempted: string | undefined;
    }
  /** The same alias, or the same answers, as before: this is that run. */
  | { readonly kind: "attached"; readonly run: RunRecord }
  | { readonly kind: "busy"; readonly runId: string; readonly retryAfterMs: number }
  /** Stopped before it arrived: recorded as cancelled, never run. */
  | { readonly kind: "cancelled"; readonly run: RunRecord }
  /** R28: an interrupt was answered otherwise already, or is not open. */
  | { readonly kind: "conflict"; readonly interruptIds: readonly string[] }
  | { readonly kind: "interrupt_pending"; readonly interruptIds: readonly string[] };
