import {
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  INTERRUPT,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { ThroughlineError } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { RUN_METADATA_KEY } from "../persistence/run-saver.js";

export interface ThreadCopy {
  readonly saver: BaseCheckpointSaver;
  readonly from: string;
  readonly checkpointId: string;
  readonly to: string;
  /** Of the thread that is made. */
  readonly target: BaseCheckpointSaver;
  readonly runId: string | undefined;
}

/**
 * Puts a checkpoint into another thread, under its own id: task ids and the ids of questions follow from it, so what was
 * open stays open and can be answered there. Of a checkpoint of the past only the questions come along; what its tasks went
 * on to do is left behind, and with it the inner state of subgraphs, which begin again.
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
  for (const tuple of [...inner, root]) await put(tuple);

  async function put({ config, checkpoint, metadata, pendingWrites = [] }: CheckpointTuple): Promise<void> {
    const ns = readString(config.configurable, "checkpoint_ns") ?? "";
    const place = { thread_id: to, checkpoint_ns: ns };
    const { [RUN_METADATA_KEY]: _, thread_id: __, ...kept } = { ...Object(metadata) };
    await target.put(
      { configurable: place },
      checkpoint,
      { ...kept, source: "fork", ...(runId !== undefined && { [RUN_METADATA_KEY]: runId }) },
      checkpoint.channel_versions,
    );
    const wanted = isNewest ? pendingWrites : pendingWrites.filter(([, channel]) => channel === INTERRUPT);
    for (const [taskId, writes] of byTask(wanted)) {
      await target.putWrites({ configurable: { ...place, checkpoint_id: checkpoint.id } }, writes, taskId);
    }
  }
}

/** Checkpoints of subgraphs that run below this one. */
async function innerTuples(
  saver: BaseCheckpointSaver,
  threadId: string,
  checkpointId: string,
): Promise<readonly CheckpointTuple[]> {
  const found: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) {
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
