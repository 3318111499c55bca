import {
  type AgentCommand,
  type GraphCheckpoint,
  type GraphStatePort,
  type GraphThread,
  type PayloadOf,
  type RunConfig,
  ThroughlineError,
} from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import { decodeRunSpec, type RunInput } from "../threads/run-spec.js";

/** The request that retries a failed run. */
export interface Retry {
  readonly input: RunInput;
  readonly command: AgentCommand | undefined;
  /** The model it ran with. */
  readonly priorModel: string | undefined;
  /** The run's configuration. */
  readonly config: RunConfig | undefined;
}

export interface FailedRun {
  readonly run: RunRecord;
  /** The run's input by the log; `undefined` where the log no longer has it. */
  readonly input: PayloadOf<"run_start">["input"] | undefined;
  /** The thread's newest. */
  readonly checkpoint: GraphCheckpoint | undefined;
}

const HAS_FAILED: ReadonlySet<RunRecord["status"]> = new Set(["error", "lost", "cancelled"]);

/**
 * Continues from where the run broke off, whatever failed: a response that made it fail is requested again. A run that
 * stored nothing, and one of a command, restarts with its original input. Throws `conflict` where there is nothing to try again.
 */
export function planRetry({ run, input, checkpoint }: FailedRun): Retry {
  if (!HAS_FAILED.has(run.status)) throw refused("The last run of this thread did not fail.");
  const row = decodeRunSpec(run.request);
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

const PER_READ = 20;
/** Most checkpoints that are searched: a page repeats the conversation in each of its checkpoints. */
const MAX_READS = 25;

/**
 * The checkpoint from which an assistant's message was made: a run from it regenerates the message. Follows the newest checkpoint's
 * parents, because a thread may hold branches that were left. Throws `invalid_input` for another's message, `not_found` where
 * the message, or the checkpoint before it, is not there any more.
 */
export async function checkpointBefore(
  state: Pick<GraphStatePort, "getState" | "history">,
  thread: GraphThread,
  messageId: string,
): Promise<string> {
  const newest = await state.getState(thread);
  const message = newest?.messages?.find(({ id }) => id === messageId);
  if (!newest || !message) throw missing("There is no such message in this thread.");
  if (message.role !== "assistant") {
    throw new ThroughlineError("invalid_input", "messageId: is not an assistant's message", {
      details: { field: "messageId" },
    });
  }
  let wanted = newest.parentCheckpointId;
  let before: string | undefined = newest.checkpointId;
  for (let reads = 0; reads < MAX_READS && wanted !== undefined && before !== undefined; reads += 1) {
    const page = await state.history(thread, { limit: PER_READ, before });
    for (const checkpoint of page) {
      if (checkpoint.checkpointId !== wanted) continue;
      const isBefore = !checkpoint.messages?.some(({ id }) => id === messageId);
      if (isBefore && checkpoint.next.length > 0) return checkpoint.checkpointId;
      if (isBefore) throw missing("No step of the graph made this message, so it can't be made again.");
      wanted = checkpoint.parentCheckpointId;
    }
    before = page.length < PER_READ ? undefined : page.at(-1)?.checkpointId;
  }
  throw missing("The checkpoint before this message is not kept any more.");
}

function missing(why: string): ThroughlineError {
  return new ThroughlineError("not_found", `messageId: ${why}`, { details: { field: "messageId" } });
}
