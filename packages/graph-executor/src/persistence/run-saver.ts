import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { readString } from "@throughline/coerce";
import { isUnstorable } from "./attachment-serializer.js";
import { ClockedSaver, type ClockedSaverOptions } from "./clocked-saver.js";

/** Key of a checkpoint's metadata that names our run which wrote it. */
export const RUN_METADATA_KEY = "throughline_run";
/** Key of a checkpoint's metadata that says of which shape the graph was that wrote it. */
const SHAPE_METADATA_KEY = "throughline_graph";

export interface RunSaverOptions extends ClockedSaverOptions {
  /** Absent: checkpoints name no run. */
  readonly runId: string | undefined;
  /** Once it is aborted nothing is written, and nothing waits for a store that is away. */
  readonly signal: AbortSignal;
  /** Called once, with the first write that was refused. It is expected to abort the graph. */
  readonly onWriteFailed: (error: unknown) => void;
}

/**
 * The saver of one run. It stamps every checkpoint with the run, which is how a recovery tells its own checkpoint from
 * one that an earlier run left. While the store is away the graph waits at its next checkpoint. Its writes never reject:
 * LangGraph collects write promises and looks at them when the superstep ends, so a rejection while a sibling node still
 * runs would be unhandled and end the process.
 */
export class RunSaver extends ClockedSaver {
  readonly #options: RunSaverOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #unstored = new Set<string>();
  #closed = false;
  #shape: string | undefined;
  #foundShape: string | undefined;

  constructor(inner: BaseCheckpointSaver, options: RunSaverOptions) {
    super(inner, options);
    this.#options = options;
  }

  /** Channels whose values no checkpoint can hold. */
  get unstored(): readonly string[] {
    return [...this.#unstored];
  }

  /** From here on checkpoints say that a graph of this shape wrote them. */
  stampShape(shape: string): void {
    this.#shape = shape;
  }

  /** Whether the thread was last written by a graph of another shape. Not known of checkpoints without a stamp. */
  get foundOtherShape(): boolean {
    return this.#foundShape !== undefined && this.#shape !== undefined && this.#foundShape !== this.#shape;
  }

  /**
   * From here on nothing is written: a node that ignores its abort signal may come back long after its run ended. Resolves
   * when what was under way is done, so that a deletion after it deletes that too.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(config);
    // The first one is what earlier runs left; later ones may be this run's own.
    this.#foundShape ??= tuple && readString(tuple.metadata, SHAPE_METADATA_KEY);
    return tuple;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const stamped = {
      ...metadata,
      ...(this.#options.runId !== undefined && { [RUN_METADATA_KEY]: this.#options.runId }),
      ...(this.#shape !== undefined && { [SHAPE_METADATA_KEY]: this.#shape }),
    };
    const written = await this.#write(() => super.put(config, checkpoint, stamped, newVersions));
    for (const channel of Object.keys(newVersions)) {
      if (isUnstorable(checkpoint.channel_values[channel])) this.#unstored.add(channel);
    }
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
    const { signal, onWriteFailed } = this.#options;
    if (this.#closed || signal.aborted) return undefined;
    const writing = write();
    this.#underWay.add(writing);
    try {
      return await writing;
    } catch (error) {
      if (!this.#closed && !signal.aborted) {
        this.#closed = true;
        onWriteFailed(error);
      }
      return undefined;
    } finally {
      this.#underWay.delete(writing);
    }
  }
}
