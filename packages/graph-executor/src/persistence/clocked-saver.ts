import { setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { type RetryStoreOptions, StoreOutage } from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { checkpointTime } from "./checkpoint-time.js";
import { PatientSaver } from "./patient-saver.js";

/** How long a writer waits for its own clock to reach that of the instance that wrote the thread last. */
const MAX_WAIT_MS = 5_000;

export interface ClockedSaverOptions extends RetryStoreOptions {
  /** Whether this process's wall clock can be relied on. While it can't, nothing is written. Default: always. */
  readonly isClockRight?: (() => boolean) | undefined;
}

/**
 * The saver of one writer of a thread: a run, or an update outside of runs.
 *
 * The newest checkpoint of a thread is the one with the greatest id, and ids begin with a time by the wall clock of the process that
 * made them. So the first reading resolves once this process's clock is past the thread's newest checkpoint, also where an older
 * one was asked for. A checkpoint from before that one's time, or its parent's, is refused: LangGraph would never find it again.
 */
export class ClockedSaver extends PatientSaver {
  readonly #options: ClockedSaverOptions;
  #begun: Promise<void> | undefined;
  /** Id of the thread's newest checkpoint when this writer began, if it had one. */
  #newest: string | undefined;

  constructor(inner: BaseCheckpointSaver, options: ClockedSaverOptions) {
    super(inner, options);
    this.#options = options;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(config);
    this.#begun ??= this.#begin(config, tuple);
    await this.#begun;
    return tuple;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#requireClock();
    const before = [readString(config.configurable, "checkpoint_id"), this.#newest];
    if (before.some((id) => id !== undefined && isBefore(checkpoint.id, id))) {
      throw new StoreOutage(new Error("This process's clock was put back while a thread was written."));
    }
    return super.put(config, checkpoint, metadata, newVersions);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    this.#requireClock();
    return super.putWrites(config, writes, taskId);
  }

  /** An outage, so that a run is left to another instance and not failed, and a request is sent again. */
  #requireClock(): void {
    const { isClockRight = () => true } = this.#options;
    if (!isClockRight()) {
      throw new StoreOutage(new Error("This process's clock is not that of the database."));
    }
  }

  /**
   * Waits until this process's clock is past the thread's newest checkpoint: its wall clock and not `Clock`, because LangGraph makes
   * ids by it. `found`: what the config asked for.
   */
  async #begin({ configurable }: RunnableConfig, found: CheckpointTuple | undefined): Promise<void> {
    const isNewest = !configurable?.checkpoint_id && !configurable?.checkpoint_ns;
    const newest = isNewest
      ? found
      : await super.getTuple({ configurable: { thread_id: configurable?.thread_id, checkpoint_ns: "" } });
    if (!newest) return;
    const { id } = newest.checkpoint;
    this.#newest = id;
    const aheadMs = () => (checkpointTime(id) ?? 0) - Date.now();
    if (aheadMs() > MAX_WAIT_MS) {
      throw new Error(
        `The newest checkpoint of this thread is ${Math.round(aheadMs() / 1_000)} s ahead of this instance's clock. Set the clocks of all instances right; runs of this thread work again after that time.`,
      );
    }
    const { signal } = this.#options;
    // Asked again: a timer may fire a millisecond early by the wall clock. Where that was put back, writes are refused.
    while (aheadMs() >= 0 && aheadMs() <= MAX_WAIT_MS)
      await sleep(aheadMs() + 1, undefined, signal && { signal });
  }
}

function isBefore(id: string, other: string): boolean {
  const [own, its] = [checkpointTime(id), checkpointTime(other)];
  return own !== undefined && its !== undefined && own < its;
}
