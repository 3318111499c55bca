import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import type { GraphCheckpoint, Interrupt } from "@throughline/ai-core";
import { interruptContent, readNumber, readString, toMessages, toPlainObject } from "@throughline/coerce";
import { takeFiles } from "../attachments/found-files.js";
import { valuesAsState } from "../inproc/graph-values.js";
import { OWN_RUN_KEY } from "./server-run.js";

/**
 * The newest state of a thread. The server lists a question in it until its step is complete, answered or not; only the
 * thread's own record tells which of them the last run left open.
 */
export async function readCheckpoint(
  client: Client,
  state: ThreadState,
): Promise<GraphCheckpoint | undefined> {
  const checkpoint = toGraphCheckpoint(state);
  if (!checkpoint || checkpoint.interrupts.length === 0) return checkpoint;
  const thread = await client.threads.get(state.checkpoint.thread_id);
  const open = new Set(Object.values(thread.interrupts ?? {}).flatMap((list) => list.map(({ id }) => id)));
  // A run that was cancelled leaves no questions in the record, though the thread still waits.
  if (thread.status !== "interrupted" || open.size === 0) return checkpoint;
  const interrupts = checkpoint.interrupts.filter(({ interrupt_id }) => open.has(interrupt_id));
  return { ...checkpoint, interrupts };
}

/** A state as the server tells it; `undefined` for a thread, or a checkpoint, that does not exist. */
export function toGraphCheckpoint(state: ThreadState): GraphCheckpoint | undefined {
  const checkpointId = state.checkpoint?.checkpoint_id;
  // Asked for a checkpoint it does not have, the server repeats the id and leaves the rest empty.
  if (!checkpointId || !state.created_at) return undefined;
  const { value: values, files } = takeFiles(state.values);
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

/** Nodes that are done are not among the next ones. A node that asks a second time is not either, so none is no proof. */
function openInterrupts(state: ThreadState): readonly Interrupt[] {
  const listed = listInterrupts(state);
  const open = listed.filter(({ ns }) => state.next.some((node) => ns[0]?.startsWith(`${node}:`)));
  return open.length > 0 ? open : listed;
}

/** An interrupt inside a subgraph is listed at every level above it too; the deepest one is the node that asks. */
function listInterrupts(state: ThreadState, path: readonly string[] = []): readonly Interrupt[] {
  const found = new Map<string, Interrupt>();
  for (const task of state.tasks) {
    // It took an answer and failed: any other answer would only come after that one.
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
