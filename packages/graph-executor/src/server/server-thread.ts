import type { Client } from "@langchain/langgraph-sdk";
import { parseGraphId, ThroughlineError } from "@throughline/ai-core";
import { statusOf } from "./upstream-failure.js";

export function graphNameOf(graphId: string): string {
  const graphName = parseGraphId(graphId);
  if (graphName === undefined) throw new ThroughlineError("not_found", `Unknown agent "${graphId}".`);
  return graphName;
}

/** A run on a thread that does not exist is refused as if the thread were busy, so there is one before there is a run. */
export async function ensureThread(client: Client, threadId: string, graphName: string): Promise<void> {
  await client.threads.create({ threadId, graphId: graphName, ifExists: "do_nothing" });
}

export function threadMissing(cause: unknown): ThroughlineError {
  return new ThroughlineError("not_found", "This thread does not exist on the LangGraph server.", { cause });
}

/** Copies a checkpoint to the head of its thread, as LangGraph names it. */
const COPY = "__copy__";

/**
 * Makes a past checkpoint the thread's newest. A run started with a `checkpoint_id` instead would leave it in the
 * thread's config, and every later run of anybody would silently fork there again.
 */
export async function moveHead(client: Client, threadId: string, checkpointId: string): Promise<void> {
  try {
    await client.threads.updateState(threadId, { values: null, checkpointId, asNode: COPY });
  } catch (error) {
    throw statusOf(error) === 404 ? threadMissing(error) : error;
  }
}
