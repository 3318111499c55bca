import type { Client, Run, ThreadState } from "@langchain/langgraph-sdk";
import {
  type Dialect,
  type GraphCheckpoint,
  type Interrupt,
  parseGraphId,
  ThroughlineError,
} from "@throughline/ai-core";
import {
  interruptContent,
  read,
  readArray,
  readNumber,
  readString,
  toMessages,
  toPlainObject,
} from "@throughline/coerce";
import { extractFiles } from "../attachments/files.js";
import { RUN_METADATA_KEY } from "../checkpoints/run-saver.js";
import { valuesAsState } from "../inproc/graph-values.js";
import { statusOf } from "./client.js";

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

/**
 * The newest state of a thread. The server lists an interrupt in it until its step is complete, with or without a response;
 * only the thread's own record shows which of them the last run left open.
 */
export async function readCheckpoint(
  client: Client,
  state: ThreadState,
): Promise<GraphCheckpoint | undefined> {
  const checkpoint = toGraphCheckpoint(state);
  if (!checkpoint || checkpoint.interrupts.length === 0) return checkpoint;
  const thread = await client.threads.get(state.checkpoint.thread_id);
  const open = new Set(Object.values(thread.interrupts ?? {}).flatMap((list) => list.map(({ id }) => id)));
  // A run that was cancelled leaves no interrupts in the record, though the thread still waits.
  if (thread.status !== "interrupted" || open.size === 0) return checkpoint;
  const interrupts = checkpoint.interrupts.filter(({ interrupt_id }) => open.has(interrupt_id));
  return { ...checkpoint, interrupts };
}

/** A checkpoint from the server's state; `undefined` for a thread, or a checkpoint, that does not exist. */
export function toGraphCheckpoint(state: ThreadState): GraphCheckpoint | undefined {
  const checkpointId = state.checkpoint?.checkpoint_id;
  // Asked for a checkpoint it does not have, the server repeats the id and leaves the rest empty.
  if (!checkpointId || !state.created_at) return undefined;
  const { value: values, files } = extractFiles(state.values);
  // A function that waits for a person has returned nothing yet, which the server sends as `null`.
  const { messages, ...rest } = toPlainObject(valuesAsState(values));
  const parent = state.parent_checkpoint?.checkpoint_id;
  const source = readString(state.metadata, "source");
  const step = readNumber(state.metadata, "step");
  const runId = readString(state.metadata, OWN_RUN_KEY);
  return {
    checkpointId,
    ...(parent && { parentCheckpointId: parent }),
    createdAt: state.created_at,
    ...(source !== undefined && { source }),
    ...(step !== undefined && { step }),
    ...(runId !== undefined && { runId }),
    state: rest,
    ...(messages !== undefined && { messages: toMessages(messages) }),
    next: state.next,
    interrupts: openInterrupts(state),
    ...(files.length > 0 && { files }),
  };
}

/**
 * Nodes that are done are not among the next ones. A node that interrupts a second time is not either, so their absence proves
 * nothing.
 */
function openInterrupts(state: ThreadState): readonly Interrupt[] {
  const listed = listInterrupts(state);
  const open = listed.filter(({ ns }) => state.next.some((node) => ns[0]?.startsWith(`${node}:`)));
  return open.length > 0 ? open : listed;
}

/** An interrupt inside a subgraph is listed at every level above it too; the deepest one is the interrupted node. */
function listInterrupts(state: ThreadState, path: readonly string[] = []): readonly Interrupt[] {
  const found = new Map<string, Interrupt>();
  for (const task of state.tasks) {
    // It consumed a response and failed: any other response would only come after that one.
    if (task.error != null) continue;
    const ns = [...path, `${task.name}:${task.id}`];
    const nested = task.state ? listInterrupts(task.state, ns) : [];
    for (const interrupt of nested) found.set(interrupt.interrupt_id, interrupt);
    for (const raw of task.interrupts) {
      const { id } = raw;
      if (id === undefined || found.has(id)) continue;
      found.set(id, { interrupt_id: id, ...interruptContent(raw), node: task.name, ns });
    }
  }
  return [...found.values()];
}

/**
 * R25: metadata key with which an upstream run names our run. The server copies a run's metadata into its checkpoints, so a
 * checkpoint of either backend names its run alike.
 */
export const OWN_RUN_KEY = RUN_METADATA_KEY;

/** Metadata key of the attempt that made the upstream run: a recovered run may have several upstream. */
export const OWN_ATTEMPT_KEY = "throughline_attempt";

/** Our id of an upstream run; `undefined` for an external run. */
export function ownRunId(run: Run): string | undefined {
  return readString(run.metadata, OWN_RUN_KEY);
}

/** A run made without this has a log that can be read once: joining it takes events from the client that started it. */
export function isResumable(run: Run): boolean {
  return read(read(run, "kwargs"), "resumable") === true;
}

/** The client that starts a run chooses what it streams, and may not have requested tokens. */
export function streamsMessages(run: Run): boolean {
  return streamModes(run).includes("messages-tuple");
}

/** The dialect to read a run by. Tokens that come in both are read from the stream modes, which carry more. */
export function dialectOf(run: Run): Dialect {
  const isOfEvents = isResumable(run) && streamModes(run).includes("events") && !streamsMessages(run);
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
  // A run that starts between the two responses is in neither or in both.
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
