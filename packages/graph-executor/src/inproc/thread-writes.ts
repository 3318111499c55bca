import {
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  INTERRUPT,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import {
  type Clock,
  isStoreOutage,
  type JsonObject,
  type StateUpdate,
  ThroughlineError,
} from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { RUN_METADATA_KEY, RunSaver } from "../checkpoints/run-saver.js";
import { bindGraph, graphShape, type RunnableGraph } from "../graphs/graph.js";
import { toGraphMessage } from "../run-input.js";
import { toUpdateError, toWriteError } from "./errors.js";

export interface ThreadUpdate {
  readonly graph: RunnableGraph;
  /** Already fenced, where there is a lease. */
  readonly saver: BaseCheckpointSaver;
  readonly threadId: string;
  /** The run that writes, where one does. */
  readonly runId: string | undefined;
  readonly update: StateUpdate;
  readonly clock: Clock;
  readonly patienceMs: number;
  readonly isClockRight?: (() => boolean) | undefined;
}

/** Writes state outside a graph's run, under the same conditions as a run's checkpoints. Gives the new checkpoint's id. */
export async function updateThread(options: ThreadUpdate): Promise<string> {
  const { graph, threadId, update, ...saving } = options;
  let failure: { readonly error: unknown } | undefined;
  const saver = new RunSaver(options.saver, {
    ...saving,
    signal: new AbortController().signal,
    onWriteFailed: (error) => {
      failure = { error };
    },
  });
  saver.stampShape(graphShape(graph));
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  // A failure here is the store's or a clock's, a failure after it is the graph's.
  await saver.getTuple(config);
  const bound = bindGraph(graph, { checkpointer: saver });
  const written = await bound
    .updateState(config, updateValues(graph, update), update.asNode)
    .catch((error: unknown) => Promise.reject(isStoreOutage(error) ? error : toUpdateError(error)));
  if (failure) throw toWriteError(failure.error);
  return readString(written.configurable, "checkpoint_id") ?? "";
}

/** Channels that join a new value to the one they have, and replace it only by an explicit overwrite. */
const JOINING = new Set(["BinaryOperatorAggregate", "DeltaChannel"]);

function updateValues({ channels }: RunnableGraph, { state = {}, messages = [] }: StateUpdate): JsonObject {
  const { messages: _, ...values } = state;
  const set = Object.entries(values).map(([name, value]) => {
    const joins = JOINING.has(readString(channels[name], "lc_graph_name") ?? "");
    return [name, joins ? { __overwrite__: value } : value];
  });
  return {
    ...Object.fromEntries(set),
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  };
}

export interface ThreadCopy {
  readonly saver: BaseCheckpointSaver;
  readonly from: string;
  readonly checkpointId: string;
  readonly to: string;
  /** The saver of the new thread. */
  readonly target: BaseCheckpointSaver;
  readonly runId: string | undefined;
}

/**
 * Puts a checkpoint into another thread, under its own id: task ids and the ids of interrupts derive from it, so open
 * interrupts stay open and accept a response there. Of an earlier checkpoint only the interrupts are copied; the later work
 * of its tasks is left behind, and with it the inner state of subgraphs, which begin again. A delta channel's value is the writes
 * of its ancestors since its last snapshot, so those come along, too.
 */
export async function copyThread({
  saver,
  from,
  checkpointId,
  to,
  target,
  runId,
}: ThreadCopy): Promise<void> {
  const config = { configurable: { thread_id: from, checkpoint_ns: "" } };
  const newest = await saver.getTuple(config);
  const isNewest = newest?.checkpoint.id === checkpointId;
  const root = isNewest
    ? newest
    : await saver.getTuple({ configurable: { ...config.configurable, checkpoint_id: checkpointId } });
  if (!root) {
    throw new ThroughlineError("not_found", "checkpointId: this thread has no such checkpoint.", {
      details: { field: "checkpointId" },
    });
  }
  const inner =
    isNewest && (root.pendingWrites ?? []).length > 0 ? await innerTuples(saver, from, checkpointId) : [];
  const copied = new Set<string>();
  // The root last: without it the thread has nothing that could be read.
  for (const tuple of inner) await putWithAncestors(tuple, tuple.pendingWrites);
  const questions = root.pendingWrites?.filter(([, channel]) => channel === INTERRUPT);
  await putWithAncestors(root, isNewest ? root.pendingWrites : questions);

  async function putWithAncestors(
    tuple: CheckpointTuple,
    writes: CheckpointTuple["pendingWrites"],
  ): Promise<void> {
    let ancestor = await replayedParent(saver, tuple);
    while (ancestor) {
      await put(ancestor, ancestor.pendingWrites);
      ancestor = await replayedParent(saver, ancestor);
    }
    await put(tuple, writes);
  }

  async function put(tuple: CheckpointTuple, writes: readonly CheckpointPendingWrite[] = []): Promise<void> {
    const { checkpoint, metadata } = tuple;
    const ns = readString(tuple.config.configurable, "checkpoint_ns") ?? "";
    const key = `${ns}\n${checkpoint.id}`;
    if (copied.has(key)) return;
    copied.add(key);
    const address = { thread_id: to, checkpoint_ns: ns };
    const parentId = replaysParent(tuple) && readString(tuple.parentConfig?.configurable, "checkpoint_id");
    const { [RUN_METADATA_KEY]: _, thread_id: __, ...copiedMetadata } = { ...Object(metadata) };
    await target.put(
      { configurable: { ...address, ...(parentId && { checkpoint_id: parentId }) } },
      checkpoint,
      { ...copiedMetadata, source: "fork", ...(runId !== undefined && { [RUN_METADATA_KEY]: runId }) },
      checkpoint.channel_versions,
    );
    for (const [taskId, ofTask] of byTask(writes)) {
      await target.putWrites({ configurable: { ...address, checkpoint_id: checkpoint.id } }, ofTask, taskId);
    }
  }
}

/** Whether some delta channel's value is made of what the checkpoint's ancestors wrote. */
function replaysParent({ metadata }: CheckpointTuple): boolean {
  const counters = read(metadata, "counters_since_delta_snapshot");
  return typeof counters === "object" && counters !== null && Object.keys(counters).length > 0;
}

async function replayedParent(
  saver: BaseCheckpointSaver,
  tuple: CheckpointTuple,
): Promise<CheckpointTuple | undefined> {
  return tuple.parentConfig && replaysParent(tuple) ? saver.getTuple(tuple.parentConfig) : undefined;
}

/** Checkpoints of subgraphs that run below this one. Filtered by the saver: a thread's whole history may not fit in memory. */
async function innerTuples(
  saver: BaseCheckpointSaver,
  threadId: string,
  checkpointId: string,
): Promise<readonly CheckpointTuple[]> {
  const found: CheckpointTuple[] = [];
  const filter = { parents: { "": checkpointId } };
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } }, { filter })) {
    if (readString(read(tuple.metadata, "parents"), "") === checkpointId) found.push(tuple);
  }
  return found;
}

function byTask(writes: readonly CheckpointPendingWrite[]): ReadonlyMap<string, PendingWrite[]> {
  const tasks = new Map<string, PendingWrite[]>();
  for (const [taskId, channel, value] of writes) {
    tasks.set(taskId, [...(tasks.get(taskId) ?? []), [channel, value]]);
  }
  return tasks;
}
