import type {
  AgentCommand,
  Caller,
  ContextItem,
  Dialect,
  FrontendTool,
  Profile,
  RunConfig,
} from "@throughline/ai-core";
import type { BusyStrategy, RunOrigin, RunRecord } from "@throughline/thread-log";
import type { RunInput } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { Arrival } from "./stop-runs.js";

export interface StartRunRequest {
  readonly thread: ThreadAddress;
  readonly caller: Caller;
  /** Who asks, also in a thread of the account: the run is charged to their budget. */
  readonly person?: string | undefined;
  readonly ingressRequestId: string;
  /** Of that request: what the run does is traced below it, on whichever instance. */
  readonly traceparent?: string | undefined;
  /** R25: the client's own run id, and its idempotency key. */
  readonly clientRunId?: string | undefined;
  /** Of the request that asks, so that a stop which comes while it is on its way is not lost. */
  readonly arrival?: Arrival | undefined;
  readonly input: RunInput;
  readonly tools: readonly FrontendTool[];
  readonly context: readonly ContextItem[];
  /** R29: one that the agent has; goes with new input only. */
  readonly command?: AgentCommand | undefined;
  /** Chosen by the caller. Where absent the service selects one, or none. */
  readonly model?: string | undefined;
  /** Of the run that this one repeats: used where it still may be. */
  readonly priorModel?: string | undefined;
  /** Recursion limit, tags, metadata and the graph's own configuration. */
  readonly config?: RunConfig | undefined;
  /** Whether later runs of the thread that name no model use this one. */
  readonly remembersModel?: boolean | undefined;
  readonly profile: Profile;
  /** Default `modes`. */
  readonly dialect?: Dialect | undefined;
  /** R24. */
  readonly strategy: BusyStrategy;
  /** `{ kind: "client" }` when absent. */
  readonly origin?: RunOrigin | undefined;
}

/** Every kind with a `run` can be watched with `{ kind: "run", runId: run.runId }`. */
export type StartOutcome =
  | { readonly kind: "started"; readonly run: RunRecord }
  /** The same client run id, or the same answers, as before: this is that run, running or ended. */
  | { readonly kind: "attached"; readonly run: RunRecord }
  /** `ahead`: how many runs come before it. `preempted`: the run that was asked to stop for it. */
  | {
      readonly kind: "queued";
      readonly run: RunRecord;
      readonly ahead: number;
      readonly preempted: string | undefined;
    }
  /** It was stopped before it arrived: a run that began and ended as cancelled is in the log. */
  | { readonly kind: "cancelled"; readonly run: RunRecord }
  | { readonly kind: "busy"; readonly runId: string; readonly retryAfterMs: number }
  /** R28: answered otherwise already, or not open. */
  | { readonly kind: "conflict"; readonly interruptIds: readonly string[] }
  | { readonly kind: "interrupt_pending"; readonly interruptIds: readonly string[] };

export type StopOutcome =
  /** It runs, here or elsewhere: its driver was told, and its end will be in the log. */
  | { readonly kind: "stopping"; readonly runId: string }
  /** It waited in the queue. */
  | { readonly kind: "cancelled"; readonly runId: string }
  | { readonly kind: "ended"; readonly runId: string }
  /** Named, and not seen yet: cancelled if it arrives soon (R25). */
  | { readonly kind: "unknown" }
  /** Nothing named and nothing open. */
  | { readonly kind: "idle" };

/** Starts runs, drives them to their end with or without subscribers (R1), and recovers what a dead instance left (R27). */
export interface RunService {
  /**
   * Throws a `ThroughlineError`: `invalid_input` (R26, `details.field`), `not_found` (no such agent), `shutting_down`.
   * Resolves once the run is recorded; what it does is in the log.
   */
  start(request: StartRunRequest): Promise<StartOutcome>;
  /**
   * By the client's run id or ours. Without one it is for everything that was asked of the thread before: what runs is
   * asked to stop, what waits is cancelled, and so is what is on its way to this instance. Tells of the first of these.
   */
  stop(thread: ThreadAddress, runId?: string): Promise<StopOutcome>;
  /** For routes, from a request's first byte on. */
  arriving<Result>(work: (arrival: Arrival) => Promise<Result>): Promise<Result>;
  /** The open run of a thread. */
  active(thread: ThreadAddress): Promise<RunRecord | undefined>;
  /** Runs driven by this instance now. */
  driving(): number;
  /**
   * Takes no new runs, gives those it drives `drainMs` to end, then hands the rest over: their leases are released, and
   * another instance goes on from the checkpoint. Nothing is lost, nothing is cancelled.
   */
  close(options: { readonly drainMs: number }): Promise<void>;
}
