import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { Fence, LeasePort } from "@throughline/ai-core";
import { FencedPostgresSaver } from "./fenced-postgres-saver.js";
import { ForwardingSaver } from "./forwarding-saver.js";

/**
 * R17: a saver that writes only while its fence is the thread's newest, so that a driver which lost its lease can't write
 * over the one that took its place. In the registry's own database the fence is a condition of the write itself; a saver
 * elsewhere asks first. Reading needs no lease. A refused write rejects with a `conflict`.
 */
export function fencedSaver(saver: BaseCheckpointSaver, lease: LeasePort, fence: Fence): BaseCheckpointSaver {
  const { heldQuery } = lease;
  if (heldQuery && saver instanceof FencedPostgresSaver) return saver.heldBy({ fence, heldQuery });
  return new AskingSaver(saver, () => lease.assertHeld(fence));
}

class AskingSaver extends ForwardingSaver {
  readonly #assertHeld: () => Promise<void>;

  constructor(inner: BaseCheckpointSaver, assertHeld: () => Promise<void>) {
    super(inner);
    this.#assertHeld = assertHeld;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    await this.#assertHeld();
    return super.put(config, checkpoint, metadata, newVersions);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.#assertHeld();
    return super.putWrites(config, writes, taskId);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#assertHeld();
    return super.deleteThread(threadId);
  }
}
