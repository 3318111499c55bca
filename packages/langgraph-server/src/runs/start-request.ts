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
  /** The person who starts the run, also in a thread of the account: the run is charged to their budget. */
  readonly person?: string | undefined;
  readonly ingressRequestId: string;
  /** Trace context of that request: the run is traced below it, on any instance. */
  readonly traceparent?: string | undefined;
  /** R25: the client's own run id, and its idempotency key. */
  readonly clientRunId?: string | undefined;
  /** The request's arrival, so that a stop which comes while the request is in flight is not lost. */
  readonly arrival?: Arrival | undefined;
  readonly input: RunInput;
  readonly tools: readonly FrontendTool[];
  readonly context: readonly ContextItem[];
  /** R29: one that the agent has; goes with new input only. */
  readonly command?: AgentCommand | undefined;
  /** Chosen by the caller. Where absent the service selects one, or none. */
  readonly model?: string | undefined;
  /** The model of the run that this one repeats: used if it is still allowed. */
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
  /** The same client run id, or the same responses, as before: this is that run, running or ended. */
  | { readonly kind: "attached"; readonly run: RunRecord }
  /** `ahead`: how many runs come before it. `preempted`: the run that is being stopped for it. */
  | {
      readonly kind: "queued";
      readonly run: RunRecord;
      readonly ahead: number;
      readonly preempted: string | undefined;
    }
  /** It was stopped before it arrived: a run that began and ended as cancelled is in the log. */
  | { readonly kind: "cancelled"; readonly run: RunRecord }
  | { readonly kind: "busy"; readonly runId: string; readonly retryAfterMs: number }
  /** R28: the interrupt has another response already, or is not open. */
  | { readonly kind: "conflict"; readonly interruptIds: readonly string[] }
  | { readonly kind: "interrupt_pending"; readonly interruptIds: readonly string[] };

export type StopOutcome =
  /** It runs, here or elsewhere: its driver was notified, and its end will be in the log. */
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
   * Stops the run with this id, the client's or ours. Without one it stops everything requested of the thread before: the
   * active run is stopped, queued runs are cancelled, and so are requests in flight to this instance. Reports the first of these.
   */
  stop(thread: ThreadAddress, runId?: string): Promise<StopOutcome>;
  /** For routes, from a request's first byte on. */
  arriving<Result>(work: (arrival: Arrival) => Promise<Result>): Promise<Result>;
  /** The open run of a thread. */
  active(thread: ThreadAddress): Promise<RunRecord | undefined>;
  /** Runs driven by this instance now. */
  driving(): number;
  /**
   * Accepts no new runs, lets those it drives end within `drainMs`, then hands the rest over: their leases are released, and
   * another instance continues from the checkpoint. Nothing is lost, nothing is cancelled.
   */
  close(options: { readonly drainMs: number }): Promise<void>;
}
