import type { Client, Run } from "@langchain/langgraph-sdk";
import { ConnectFailure, objectOf, propertyOf } from "./connect-input.js";

/** One event of a run's stream, as the SDK gives it. */
export interface RunChunk {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

/** After a broken stream, how long the server may take to say how the run is before it counts as gone. */
const PROBE_TIMEOUT_MS = 5_000;
/** Between the end of a stream and the next join of a run that goes on. */
const REJOIN_DELAY_MS = 200;
const POLL_MS = 1_000;
/** More than any thread has of active runs, and what servers accept. */
const LIST_LIMIT = 100;

/**
 * The run to attach to: the one that runs, else the pending one that is next. Asked by status, because a plain list is cut
 * to ten runs, and on some servers to the oldest ten; pending ones first, because a run that starts in between is then
 * seen twice and not missed.
 */
export async function findActiveRun(
  client: Client,
  threadId: string,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const list = async (status: "pending" | "running") =>
    (await orMissing(client.runs.list(threadId, { status, limit: LIST_LIMIT, signal }))) ?? [];
  const pending = await list("pending");
  const [running] = await list("running");
  const [next] = pending.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  return running ?? next;
}

/**
 * Whether joining shows the run from its beginning and takes nothing from other readers. A run that is not resumable has
 * one queue, which its readers compete for; and the pipeline reads the mode `events`.
 */
export function canJoin(run: Run): boolean {
  const kwargs = objectOf(propertyOf(run, "kwargs"));
  const modes = propertyOf(kwargs, "stream_mode");
  return propertyOf(kwargs, "resumable") === true && Array.isArray(modes) && modes.includes("events");
}

/**
 * A run's stream from its first event to its end, joined again where a connection breaks. The first join asks for what
 * comes after "-1": without a position, joining a pending run would make the server drop its replay log.
 *
 * @param ended is told the run when the server says that it has ended; undefined when the run is deleted by then
 */
export async function* followRun(
  client: Client,
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
  signal: AbortSignal,
  ended: (run: Run | undefined) => Promise<void>,
): AsyncGenerator<RunChunk, void> {
  let lastEventId = "-1";
  while (true) {
    let broken: unknown;
    try {
      for await (const chunk of client.runs.joinStream(threadId, runId, { lastEventId, signal })) {
        if (chunk.id !== undefined) lastEventId = chunk.id;
        yield withErrorObject(chunk);
      }
    } catch (error) {
      broken = error;
    }
    // Not the end of the run: a pipeline that took it for that would go on, and speak into the agent's next connection.
    signal.throwIfAborted();
    const run = await probe(client, threadId, runId, broken, signal);
    if (run === undefined || !isActive(run)) return ended(run);
    await delay(REJOIN_DELAY_MS, signal);
  }
}

/** Waits until a run that can't be joined has ended, and calls `poll` about once a second meanwhile. */
export async function pollRun(
  client: Client,
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
  signal: AbortSignal,
  poll: () => Promise<void>,
): Promise<Run | undefined> {
  while (!signal.aborted) {
    const run = await probe(client, threadId, runId, undefined, signal);
    await poll();
    if (run === undefined || !isActive(run)) return run;
    await delay(POLL_MS, signal);
  }
  return undefined;
}

function isActive({ status }: Run): boolean {
  return status === "pending" || status === "running";
}

/** The answer, or undefined where the server has no such thing. */
export async function orMissing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (propertyOf(objectOf(error), "status") === 404) return undefined;
    throw error;
  }
}

/** The SDK retries for a quarter of a minute; a subscriber should hear sooner that the server is gone. */
async function probe(
  client: Client,
  threadId: string,
  runId: string,
  broken: unknown,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
  try {
    return await orMissing(client.runs.get(threadId, runId, { signal: limit }));
  } catch (error) {
    const cause = broken ?? error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectFailure(
      "UPSTREAM_UNAVAILABLE",
      `The LangGraph server went away while run ${runId} was followed (${reason}). Connect again when it is back.`,
    );
  }
}

/** Servers tell some errors as a bare string, which the pipeline would read as an error without a message. */
function withErrorObject(chunk: RunChunk): RunChunk {
  return chunk.event === "error" && typeof chunk.data === "string"
    ? { ...chunk, data: { error: "Error", message: chunk.data } }
    : chunk;
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
