import type { Json, JsonObject, RunConfig } from "@throughline/ai-core";
import type { MessageView } from "../projection/thread-view.js";

/** What a command does when the thread is busy and it is neither `sync` nor `fire`. */
export type BusyPolicy =
  | { readonly kind: "reject" }
  | { readonly kind: "retry"; readonly times: number; readonly delayMs: number }
  /** Waits for its turn, in order. */
  | { readonly kind: "queue" };

/** What goes to the service: a run's input. */
export interface RunInput {
  readonly messages?: readonly MessageView[];
  readonly state?: JsonObject;
  /** R29: a wish that is not state. */
  readonly command?: { readonly name: string; readonly args?: JsonObject };
  /** Answers by interrupt id. */
  readonly answers?: Readonly<Record<string, Json>>;
  readonly fork?: { readonly checkpointId: string };
  readonly model?: string;
  /** Recursion limit, tags, metadata, and keys that the graph's context schema declares. */
  readonly config?: RunConfig;
}

interface CommandBase {
  /** The run id of the client's choosing, and the key by which a second delivery is the same run (R25). */
  readonly id: string;
}

export type Command =
  /** Asks for one run, and says what became of it. */
  | (CommandBase & { readonly kind: "run"; readonly input: RunInput; readonly busy: BusyPolicy })
  /** docs/requirements.md#client-8: the latest of these counts. `id` is also its `clientMutationId`. */
  | (CommandBase & { readonly kind: "sync"; readonly input: RunInput })
  /** docs/requirements.md#client-9: stops whatever runs, then runs. */
  | (CommandBase & { readonly kind: "fire"; readonly input: RunInput })
  /** The lane of `fire`, with no run after it. */
  | (CommandBase & { readonly kind: "stop" });

/** A command's run: by the id that the client gave it, and by the service's own where that is known. */
export interface RunNames {
  /** As `RunView.runId` has it. */
  readonly runId: string;
  /** As `RunView.serviceRunId`, calls and messages have it. */
  readonly serviceRunId?: string | undefined;
}

type Outcome<Run> =
  /** `unknown`: its run is over, and its end was not seen. */
  | ({
      readonly kind: "done";
      readonly status: "success" | "interrupted" | "cancelled" | "error" | "unknown";
    } & Run)
  /** A `sync` whose mutation the agent's state acknowledges. */
  | ({ readonly kind: "confirmed" } & Run)
  /** A `sync` whose run ended without acknowledging it. */
  | ({ readonly kind: "unconfirmed" } & Run)
  | { readonly kind: "stopped" }
  /** A newer command of its kind took its place before it was sent. */
  | { readonly kind: "superseded"; readonly by: string }
  /** Discarded while it waited for its turn. */
  | { readonly kind: "discarded" }
  /** docs/requirements.md#client-7: the thread had another run, `runId`, for longer than the policy waits. */
  | { readonly kind: "busy"; readonly runId: string | undefined }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** Whether it arrived is not known. Of a `stop`: nothing was seen to end, and the service did not say that it would. */
  | { readonly kind: "unreachable" };

/** How a command came out, as the scheduler decides it. Each step of it knows the command's id already. */
export type ScheduledOutcome = Outcome<unknown>;

/** How a command came out, and which run it was where it had one. None of these is an error to be thrown. */
export type CommandOutcome = Outcome<RunNames>;

/** What the service said to a command that was sent. */
export type Answer =
  /** `serviceRunId`: the service's own name of the run. `isCancelled`: a stop was there before it, so no stream will tell of it. */
  | { readonly kind: "accepted"; readonly serviceRunId?: string; readonly isCancelled?: true }
  | { readonly kind: "busy"; readonly runId: string | undefined; readonly retryAfterMs: number | undefined }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** Whether it arrived is not known. Sent again under its id, it is the same run. */
  | { readonly kind: "unreachable" };

/** The outcome, with the names of the command's run where it had one. */
export function nameRun(outcome: ScheduledOutcome, run: RunNames): CommandOutcome {
  switch (outcome.kind) {
    case "done":
    case "confirmed":
    case "unconfirmed":
      return { ...outcome, ...run };
    default:
      return outcome;
  }
}
