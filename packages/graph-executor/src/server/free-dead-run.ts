import type { Client } from "@langchain/langgraph-sdk";
import type { Clock } from "@throughline/ai-core";
import { isOver } from "./follow-run.js";
import { pause } from "./pause.js";
import type { UpstreamRun } from "./run-reader.js";
import { statusOf } from "./upstream-failure.js";

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
