import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { type RetryStoreOptions, retryStore } from "@throughline/ai-core";
import { ForwardingSaver } from "./forwarding-saver.js";

/**
 * A saver that waits for a store that is away, and rejects with a `StoreOutage` when its patience ends. Every write can be
 * repeated after a lost answer: checkpoints, channel values and pending writes have ids that their writer chose.
 */
export class PatientSaver extends ForwardingSaver {
  readonly #patience: RetryStoreOptions;

  constructor(inner: BaseCheckpointSaver, patience: RetryStoreOptions) {
    super(inner);
    this.#patience = patience;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return retryStore(this.#patience, () => super.getTuple(config));
  }

  /** Only the first answer is waited for: a store that goes away between two pages would tell the first again. */
  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const { tuples, first } = await retryStore(this.#patience, async () => {
      const asked = super.list(config, options);
      return { tuples: asked, first: await asked.next() };
    });
    for (let next = first; !next.done; next = await tuples.next()) yield next.value;
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return retryStore(this.#patience, () => super.put(config, checkpoint, metadata, newVersions));
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return retryStore(this.#patience, () => super.putWrites(config, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return retryStore(this.#patience, () => super.deleteThread(threadId));
  }

  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return retryStore(this.#patience, () => super.getDeltaChannelHistory(options));
  }
}
