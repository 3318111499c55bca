import {
  type AgentCommand,
  type GraphCheckpoint,
  type PayloadOf,
  type RunConfig,
  ThroughlineError,
} from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import type { RunInput } from "../thread/run-input.js";
import { parseRunRow } from "../thread/run-request.js";

/** How a run that failed is tried again. */
export interface Retry {
  readonly input: RunInput;
  readonly command: AgentCommand | undefined;
  /** The model it ran with. */
  readonly priorModel: string | undefined;
  /** What it was configured with. */
  readonly config: RunConfig | undefined;
}

export interface FailedRun {
  readonly run: RunRecord;
  /** What the log says it began with; `undefined` where the log no longer says so. */
  readonly input: PayloadOf<"run_start">["input"] | undefined;
  /** The thread's newest. */
  readonly checkpoint: GraphCheckpoint | undefined;
}

const HAS_FAILED: ReadonlySet<RunRecord["status"]> = new Set(["error", "lost", "cancelled"]);

/**
 * Goes on from where the run broke off, whatever failed: an answer that made it fail is asked for again. A run that stored
 * nothing, and one of a command, begins anew with what it was given. Throws `conflict` where there is nothing to try again.
 */
export function planRetry({ run, input, checkpoint }: FailedRun): Retry {
  if (!HAS_FAILED.has(run.status)) throw refused("The last run of this thread did not fail.");
  const row = parseRunRow(run.request);
  const { command, checkpointId, model, config } = row.ok ? row.value : {};
  const isStored = checkpoint?.runId === run.runId;
  const how = { command: undefined, priorModel: model, config };
  if (checkpointId !== undefined && !isStored) {
    return { ...how, input: { kind: "fork", checkpointId, messages: input?.messages ?? [] } };
  }
  const begins = command !== undefined || (input !== undefined && hasContent(input));
  if (begins && (!isStored || command !== undefined)) {
    const messages = input?.messages ?? [];
    const held = new Set(checkpoint?.messages?.map(({ id }) => id));
    return {
      ...how,
      command,
      input: {
        kind: "input",
        messages: messages.filter(({ id }) => !held.has(id)),
        isAgain: true,
        ...(input?.state && { state: input.state }),
      },
    };
  }
  if (!checkpoint) throw refused("What this run began with is no longer known. Send it again.");
  if (checkpoint.next.length === 0)
    throw refused("The graph had come to its end: there is nothing to go on with.");
  return { ...how, input: { kind: "resume", answers: {} } };
}

function hasContent({ messages, state }: PayloadOf<"run_start">["input"]): boolean {
  return messages.length > 0 || state !== undefined;
}

function refused(why: string): ThroughlineError {
  return new ThroughlineError("conflict", why);
}
