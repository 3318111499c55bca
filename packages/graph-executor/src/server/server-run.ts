import type { Client, Run } from "@langchain/langgraph-sdk";
import type { Dialect } from "@throughline/ai-core";
import { read, readArray, readNumber, readString } from "@throughline/coerce";
import { RUN_METADATA_KEY } from "../persistence/run-saver.js";

/**
 * R25: where an upstream run says which of our runs it is. The server copies a run's metadata into its checkpoints, so a
 * checkpoint of either backend names its run alike.
 */
export const OWN_RUN_KEY = RUN_METADATA_KEY;

/** Beside it, which attempt of ours made it: a run that was taken up again may have several upstream. */
export const OWN_ATTEMPT_KEY = "throughline_attempt";

/** Our id of an upstream run; `undefined` for a foreign run. */
export function ownRunId(run: Run): string | undefined {
  return readString(run.metadata, OWN_RUN_KEY);
}

/** A run made without this has a log that can be read once: joining it takes events from the client that started it. */
export function isResumable(run: Run): boolean {
  return read(read(run, "kwargs"), "resumable") === true;
}

/** The client that starts a run chooses what it streams, and may not have asked for tokens. */
export function tellsMessages(run: Run): boolean {
  return streamModes(run).includes("messages-tuple");
}

/** Tokens that come both ways are read from the stream modes, which say more. */
export function dialectOf(run: Run): Dialect {
  const isOfEvents = isResumable(run) && streamModes(run).includes("events") && !tellsMessages(run);
  return isOfEvents ? "events" : "modes";
}

function streamModes(run: Run): readonly unknown[] {
  return readArray(read(run, "kwargs"), "stream_mode");
}

/** Filtered by status, because the plain list is cut off after the ten oldest runs. */
export async function activeRuns(client: Client, threadId: string): Promise<readonly Run[]> {
  const [running, pending] = await Promise.all([
    client.runs.list(threadId, { status: "running", limit: ALL }),
    client.runs.list(threadId, { status: "pending", limit: ALL }),
  ]);
  // A run that starts between the two answers is in neither or in both.
  return [...running, ...pending.filter((run) => running.every(({ run_id }) => run_id !== run.run_id))];
}

/** The newest upstream run that was made for ours, or for one attempt of ours. */
export async function findOwnRun(
  client: Client,
  threadId: string,
  runId: string,
  attempt?: number,
): Promise<Run | undefined> {
  const runs = await client.runs.list(threadId, { limit: ALL });
  return runs
    .filter((run) => ownRunId(run) === runId)
    .filter((run) => attempt === undefined || readNumber(run.metadata, OWN_ATTEMPT_KEY) === attempt)
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at))
    .at(-1);
}

const ALL = 100_000;
