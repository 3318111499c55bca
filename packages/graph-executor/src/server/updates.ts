import { isDeepStrictEqual } from "node:util";
import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import { type GraphThread, type JsonObject, type StateUpdate, ThroughlineError } from "@throughline/ai-core";
import { read, readArray, readString } from "@throughline/coerce";
import { toGraphMessage } from "../run-input.js";
import { statusOf } from "./client.js";
import { ensureThread, graphNameOf, toGraphCheckpoint } from "./threads.js";

/**
 * Sets channels of a thread to the given values, and returns the id of the last checkpoint that this made. A server does not
 * report which channels have reducers, and accepts `__overwrite__` only for those. So a value is written plainly first; where
 * the result differs, it is written past the reducer; and where that was stored literally, there is no reducer, and the
 * channel's result of the plain write remains.
 */
export async function updateServerThread(
  client: Client,
  threadId: string,
  { state = {}, messages = [], asNode }: StateUpdate,
): Promise<string> {
  const { messages: _, ...values } = state;

  async function write(update: object): Promise<string> {
    const answer: unknown = await client.threads.updateState(threadId, {
      values: update,
      ...(asNode !== undefined && { asNode }),
    });
    // The SDK's type has `configurable`; the servers respond with `checkpoint`.
    const checkpoint = read(answer, "checkpoint") ?? read(answer, "configurable");
    const checkpointId = readString(checkpoint, "checkpoint_id");
    if (checkpointId === undefined) throw new ThroughlineError("internal", "The update gave no checkpoint.");
    return checkpointId;
  }

  /** Those of these values that came out otherwise. */
  async function differing(wanted: JsonObject): Promise<JsonObject> {
    const state = toGraphCheckpoint(await client.threads.getState(threadId))?.state ?? {};
    return Object.fromEntries(
      Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(value, state[name])),
    );
  }

  const written = await write({
    ...values,
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  });
  const joined = await differing(values);
  if (Object.keys(joined).length === 0) return written;
  const overwritten = await write(
    Object.fromEntries(Object.entries(joined).map(([name, value]) => [name, { __overwrite__: value }])),
  );
  const literal = await differing(joined);
  return Object.keys(literal).length === 0 ? overwritten : write(literal);
}

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

/** How many checkpoints back the step before an interrupt is searched for: each repeated interrupt adds one. */
const LOOK_BACK = 20;

/**
 * Makes a checkpoint at which nodes that failed on their responses are yet to run: as if the node before them had just ended.
 * The server stores a wrong response with the task that consumed it, and passes it to that task for ever; a new checkpoint has new
 * tasks. Written as the interrupted node itself, the update would skip the interrupt. `false` where no interrupt failed.
 */
export async function rewindBeforeInterrupt(client: Client, threadId: string): Promise<boolean> {
  const states = await client.threads.getHistory(threadId, { limit: LOOK_BACK });
  const [newest] = states;
  if (!newest?.tasks.some(hasFailed)) return false;
  // The update would run these again.
  if (newest.tasks.some(isDone)) throw notReaskable("part of this step is done");
  // An updated checkpoint has its interrupts from the one before.
  const asked = states.findIndex(({ metadata }) => readString(metadata, "source") !== "update");
  const before = asked < 0 ? undefined : states[asked + 1];
  const node = nodeBefore(
    before?.next ?? [],
    newest.tasks.map(({ name }) => name),
  );
  await client.threads.updateState(threadId, { values: {}, asNode: node });
  return true;
}

type Task = ThreadState["tasks"][number];

function hasFailed({ error, interrupts }: Task): boolean {
  return error != null && interrupts.length > 0;
}

function isDone({ result }: Task): boolean {
  return result != null;
}

/**
 * The node after which these nodes run, of those that ran in the step before. Throws `conflict` where it is ambiguous, and
 * never returns a node with an open interrupt: the graph would continue as if the interrupt had its response.
 */
function nodeBefore(ranBefore: readonly string[], askers: readonly string[]): string {
  const [node, ...more] = new Set(ranBefore);
  if (node === undefined || more.length > 0) throw notReaskable("several nodes ran before it");
  if (askers.includes(node)) throw notReaskable("the node ran twice in a row");
  return node;
}

function notReaskable(why: string): ThroughlineError {
  return new ThroughlineError(
    "conflict",
    `The question can't be asked again, because ${why}. Send a new message instead.`,
  );
}
