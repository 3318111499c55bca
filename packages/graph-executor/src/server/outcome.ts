import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type GraphCheckpoint,
  type GraphFinal,
  type RunStatus,
  ThroughlineError,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { toRunError, toStopError } from "../inproc/errors.js";
import { pause, statusOf, toUpstreamError, whileUnreachable } from "./client.js";
import { type FollowEnd, isOver, type UpstreamRun } from "./follow-run.js";
import { readCheckpoint, toGraphCheckpoint } from "./threads.js";

export interface OutcomeOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** How long the server may be unreachable while the outcome is read. */
  readonly boundMs: number;
  /** The run was stopped by its signal. */
  readonly stopped: boolean;
}

/** The outcome of a followed run, decided by its record and the thread's checkpoint, never by its stream. */
export async function runOutcome(
  run: UpstreamRun,
  end: Exclude<FollowEnd, { kind: "left" }>,
  options: OutcomeOptions,
): Promise<GraphFinal> {
  if (end.kind === "refused") return failed(run, "error", toUpstreamError(end.error));
  if (end.kind !== "ended") {
    const error = options.stopped ? toStopError(undefined) : new ThroughlineError("run_lost", LOST[end.kind]);
    return failed(run, options.stopped ? "cancelled" : "error", error);
  }
  const checkpoint = await checkpointAfter(run, end.state, options);
  const left = {
    upstreamRunId: run.upstreamRunId,
    ...(checkpoint && {
      checkpointId: checkpoint.checkpointId,
      state: checkpoint.state,
      ...(checkpoint.messages && { messages: checkpoint.messages }),
      ...(checkpoint.files && { files: checkpoint.files }),
    }),
  };
  const asks = checkpoint?.interrupts ?? [];
  switch (runStatusOf(end, checkpoint, options.stopped)) {
    case "success":
      return { ok: true, status: "success", ...left, interrupts: [] };
    case "interrupted":
      return { ok: true, status: "interrupted", ...left, interrupts: asks };
    case "cancelled":
      return { ok: false, status: "cancelled", error: toStopError(undefined), ...left, interrupts: asks };
    case "error":
      return { ok: false, status: "error", error: failure(end), ...left, interrupts: asks };
  }
}

type Ended = Extract<FollowEnd, { kind: "ended" }>;

/** A run's status. The server's record has `success` for a run that waits for a person, and `interrupted` for a cancelled one. */
function runStatusOf(
  { run, sign }: Ended,
  checkpoint: GraphCheckpoint | undefined,
  stopped: boolean,
): RunStatus {
  switch (run.status) {
    case "success":
      return checkpoint && checkpoint.next.length + checkpoint.interrupts.length > 0
        ? "interrupted"
        : "success";
    case "interrupted":
      return sign.kind === "interrupt" && !stopped ? "interrupted" : "cancelled";
    default:
      return "error";
  }
}

/** Upstream text may carry a prompt or a key: what people get is ours. */
function failure({ run, sign }: Ended): ThroughlineError {
  if (run.status === "timeout")
    return new ThroughlineError("run_failed", "The run took too long and was ended.");
  if (sign.kind !== "error") return toRunError(undefined, true);
  if (sign.onInput) return new ThroughlineError("invalid_input", "The graph does not accept this input.");
  return toRunError(upstreamError(sign), true);
}

/** An error from the server's name and message. The server does not send the stack. */
function upstreamError({ name, message }: { readonly name: string; readonly message: string }): Error {
  return Object.assign(new Error(message), { name, stack: `${name}: ${message}` });
}

const LOST: Readonly<Record<Exclude<FollowEnd["kind"], "ended" | "left" | "refused">, string>> = {
  gone: "The LangGraph server no longer knows this run.",
  dead: "The LangGraph server was restarted while this run was on its way.",
  restarted: "The LangGraph server was restarted and began this run anew.",
  unreachable: "The LangGraph server could not be reached for too long.",
  unstoppable: "The LangGraph server did not stop this run in time.",
};

export function failed(
  run: Partial<UpstreamRun>,
  status: "cancelled" | "error",
  error: ThroughlineError,
): GraphFinal {
  return {
    ok: false,
    status,
    error,
    ...(run.upstreamRunId !== undefined && { upstreamRunId: run.upstreamRunId }),
    interrupts: [],
  };
}

/** The thread as this run left it, also when the next run has begun to write. `undefined` where it can't be read. */
async function checkpointAfter(
  { threadId, upstreamRunId }: UpstreamRun,
  read: ThreadState | undefined,
  { client, clock, boundMs }: OutcomeOptions,
): Promise<GraphCheckpoint | undefined> {
  const ask = async () => {
    const newest = read ?? (await client.threads.getState(threadId, undefined, { subgraphs: true }));
    if (readString(newest.metadata, "run_id") === upstreamRunId) return readCheckpoint(client, newest);
    const metadata = { run_id: upstreamRunId };
    const [own] = await client.threads.getHistory(threadId, { limit: 1, metadata });
    return own ? toGraphCheckpoint(own) : readCheckpoint(client, newest);
  };
  try {
    return await whileUnreachable(ask, { clock, boundMs });
  } catch {
    // Input that a graph can't accept makes the server fail on every read of the thread until the next run.
    return undefined;
  }
}

const SETTLE_MS = 1_000;
const POLL_MS = 50;

/**
 * Frees a thread from a run whose process is gone. A cancel comes first: a run that lives obeys it within milliseconds, and
 * only one that does not may be deleted. Deleting a live one would kill a worker of the server for good. It also takes
 * the run's checkpoints along, so the thread goes back to where it was before that run.
 */
export async function freeDeadRun(
  { threadId, upstreamRunId }: UpstreamRun,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
): Promise<void> {
  const deadline = clock.now() + SETTLE_MS;
  try {
    await client.runs.cancel(threadId, upstreamRunId);
    while (clock.now() < deadline) {
      if (isOver(await client.runs.get(threadId, upstreamRunId))) return;
      await pause(clock, POLL_MS);
    }
    await client.runs.delete(threadId, upstreamRunId);
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}
