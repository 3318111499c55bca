import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { ForwardingSaver } from "./forwarding-saver.js";

/** Key of a checkpoint's metadata that names our run which wrote it. */
export const RUN_METADATA_KEY = "throughline_run";

export interface RunSaverOptions {
  readonly runId: string;
  /** Called once, with the first write that failed. It is expected to abort the graph. */
  readonly onWriteFailed: (error: unknown) => void;
}

/**
 * The saver of one run. It stamps every checkpoint with the run, which is how a takeover tells its own checkpoint from
 * one that an earlier run left. Its writes never reject: LangGraph collects write promises and looks at them when the
 * superstep ends, so a rejection while a sibling node still runs would be unhandled and end the process.
 */
export class RunSaver extends ForwardingSaver {
  readonly #options: RunSaverOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(inner: BaseCheckpointSaver, options: RunSaverOptions) {
    super(inner);
    this.#options = options;
  }

  /**
   * From here on nothing is written: a node that ignores its abort signal may come back long after its run ended. Resolves
   * when what was under way is done, so that whoever deletes the thread next deletes that too.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const stamped = { ...metadata, [RUN_METADATA_KEY]: this.#options.runId };
    const written = await this.#write(() => super.put(config, checkpoint, stamped, newVersions));
    return written ?? { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.#write(() => super.putWrites(config, writes, taskId));
  }

  /**
   * Greater than the last, as LangGraph asks, and unlike any other. Savers keep a channel's value by its version, once:
   * counted up by one, the versions of a fork would be those of the branch it left, and so would its values.
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  async #write<T>(write: () => Promise<T>): Promise<T | undefined> {
    if (this.#closed) return undefined;
    const writing = write();
    this.#underWay.add(writing);
    try {
      return await writing;
    } catch (error) {
      if (!this.#closed) {
        this.#closed = true;
        this.#options.onWriteFailed(error);
      }
      return undefined;
    } finally {
      this.#underWay.delete(writing);
    }
  }
}
