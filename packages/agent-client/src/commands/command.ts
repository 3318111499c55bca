import type { Json, JsonObject, RunConfig } from "@throughline/ai-core";
import type { ThreadMessage } from "../projection/thread-view.js";

/** The policy of a `run` command when the thread is busy. */
export type BusyPolicy =
  | { readonly kind: "reject" }
  | { readonly kind: "retry"; readonly times: number; readonly delayMs: number }
  /** Waits in the queue, in order. */
  | { readonly kind: "queue" };

/** The input of a run, as sent to the service. */
export interface RunInput {
  readonly messages?: readonly ThreadMessage[];
  readonly state?: JsonObject;
  /** R29: a request that is not state. */
  readonly command?: { readonly name: string; readonly args?: JsonObject };
  /** Interrupt responses by interrupt id. */
  readonly answers?: Readonly<Record<string, Json>>;
  readonly fork?: { readonly checkpointId: string };
  readonly model?: string;
  /** Recursion limit, tags, metadata, and keys that the graph's context schema declares. */
  readonly config?: RunConfig;
}

interface CommandBase {
  /** The client run id, which is also the idempotency key: a second delivery is the same run (R25). */
  readonly id: string;
}

export type Command =
  /** Starts one run; its outcome is that of the run. */
  | (CommandBase & { readonly kind: "run"; readonly input: RunInput; readonly busy: BusyPolicy })
  /** docs/requirements.md#client-8: the latest of these counts. `id` is also its `clientMutationId`. */
  | (CommandBase & { readonly kind: "sync"; readonly input: RunInput })
  /** docs/requirements.md#client-9: stops the active run, then starts one. */
  | (CommandBase & { readonly kind: "fire"; readonly input: RunInput })
  /** The lane of `fire`, with no run after it. */
  | (CommandBase & { readonly kind: "stop" });

/** The ids of a command's run: the client's, and the service's own where that is known. */
export interface RunNames {
  /** Equals `RunView.runId`. */
  readonly runId: string;
  /** Equals `RunView.serviceRunId`, and the `runId` of calls and messages. */
  readonly serviceRunId?: string | undefined;
}

type Outcome<Run> =
  /** `unknown`: its run is over, and its end was not observed. */
  | ({
      readonly kind: "done";
      readonly status: "success" | "interrupted" | "cancelled" | "error" | "unknown";
    } & Run)
  /** A `sync` whose mutation the agent's state acknowledges. */
  | ({ readonly kind: "confirmed" } & Run)
  /** A `sync` whose run ended without acknowledging it. */
  | ({ readonly kind: "unconfirmed" } & Run)
  | { readonly kind: "stopped" }
  /** A newer command of its kind replaced it before it was sent. */
  | { readonly kind: "superseded"; readonly by: string }
  /** Discarded while it was queued. */
  | { readonly kind: "discarded" }
  /** docs/requirements.md#client-7: the thread had another run, `runId`, for longer than the policy waits. */
  | { readonly kind: "busy"; readonly runId: string | undefined }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** Whether it arrived is not known. A `stop`: no run was observed to end, and the service did not acknowledge the stop. */
  | { readonly kind: "unreachable" };

/** The outcome of a command as the scheduler decides it, without run ids: the scheduler's effects carry the command's id. */
export type ScheduledOutcome = Outcome<unknown>;

/** The outcome of a command, with the ids of its run where it had one. None of these is an error to be thrown. */
export type CommandOutcome = Outcome<RunNames>;

/** The service's acknowledgement of a command. */
export type CommandAck =
  /** `serviceRunId`: the service's own id of the run. `isCancelled`: a stop came before it, so no stream reports the run. */
  | { readonly kind: "accepted"; readonly serviceRunId?: string; readonly isCancelled?: true }
  | { readonly kind: "busy"; readonly runId: string | undefined; readonly retryAfterMs: number | undefined }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** Whether it arrived is not known. Resent under its id, it is the same run. */
  | { readonly kind: "unreachable" };

/** Adds the ids of the command's run to an outcome that has one. */
export function withRunIds(outcome: ScheduledOutcome, run: RunNames): CommandOutcome {
  switch (outcome.kind) {
    case "done":
    case "confirmed":
    case "unconfirmed":
      return { ...outcome, ...run };
    default:
      return outcome;
  }
}
