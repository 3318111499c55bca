import type { Client } from "@langchain/langgraph-sdk";
import { type GraphThread, ThroughlineError } from "@throughline/ai-core";
import { readArray, readString } from "@throughline/coerce";
import { ensureThread, graphNameOf } from "./server-thread.js";
import { statusOf } from "./upstream-failure.js";

/** Ends whatever an update would have run next, as LangGraph names it. */
const END = "__end__";

/**
 * The server copies whole threads only, to ids of its own. So the values are written to a thread of ours as if a node had
 * made them, and what would follow from that node is cleared. A checkpoint in the middle of a run can't be made that way.
 */
export async function copyServerThread(
  client: Client,
  from: GraphThread,
  checkpointId: string,
  to: GraphThread,
): Promise<void> {
  const state = await client.threads.getState(from.threadId, checkpointId).catch((error: unknown) => {
    if (statusOf(error) === 404) return undefined;
    throw error;
  });
  // Asked for a checkpoint it does not have, the server repeats the id and leaves the rest empty.
  if (!state?.created_at) {
    throw new ThroughlineError("not_found", "checkpointId: this thread has no such checkpoint.", {
      details: { field: "checkpointId" },
    });
  }
  if (state.next.length > 0) {
    throw new ThroughlineError(
      "invalid_input",
      "checkpointId: on a LangGraph server only a checkpoint at which the graph was done can begin another thread.",
      { details: { field: "checkpointId" } },
    );
  }
  const graphName = graphNameOf(to.graphId);
  await ensureThread(client, to.threadId, graphName);
  const graph: unknown = await client.assistants.getGraph(graphName);
  const node = readArray(graph, "nodes")
    .map((found) => readString(found, "id"))
    .find((id) => id !== undefined && !id.startsWith("__"));
  if (node === undefined) throw new ThroughlineError("internal", "The graph has no node to write as.");
  await client.threads.updateState(to.threadId, { values: state.values, asNode: node });
  await client.threads.updateState(to.threadId, { values: null, asNode: END });
}
