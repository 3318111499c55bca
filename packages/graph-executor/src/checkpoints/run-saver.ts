import { setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  copyCheckpoint,
  type DeltaChannelHistory,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import {
  type Fence,
  type LeasePort,
  type RetryStoreOptions,
  retryStore,
  StoreOutage,
} from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { FencedPostgresSaver } from "./fenced-postgres-saver.js";
import { isUnstorable } from "./serializer.js";

/**
 * Another saver, unchanged. LangGraph takes savers by class, so what changes one of them is a subclass that overrides the
 * writes it cares about; any other method of a saver is still forwarded here.
 */
export class ForwardingSaver extends BaseCheckpointSaver {
  readonly #inner: BaseCheckpointSaver;

  constructor(inner: BaseCheckpointSaver) {
    super(inner.serde);
    this.#inner = inner;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inner.getTuple(config);
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options);
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#inner.put(config, checkpoint, metadata, newVersions);
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#inner.putWrites(config, writes, taskId);
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#inner.deleteThread(threadId);
  }

  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return this.#inner.getDeltaChannelHistory(options);
  }

  override getNextVersion(current: number | undefined): number {
    return this.#inner.getNextVersion(current);
  }
}

/**
 * A saver that retries through an outage of its store, and rejects with a `StoreOutage` when its patience ends. Every write can
 * be repeated after a lost response: checkpoints, channel values and pending writes have ids that their writer chose.
 */
export class RetryingSaver extends ForwardingSaver {
  readonly #patience: RetryStoreOptions;

  constructor(inner: BaseCheckpointSaver, patience: RetryStoreOptions) {
    super(inner);
    this.#patience = patience;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return retryStore(this.#patience, () => super.getTuple(config));
  }

  /** Retries only the first read: after an outage between two pages a retry would yield the first page again. */
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

/** How long a writer waits for its own clock to reach that of the instance that wrote the thread last. */
const MAX_WAIT_MS = 5_000;

interface ClockedSaverOptions extends RetryStoreOptions {
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
class ClockedSaver extends RetryingSaver {
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
   * ids by it. `found`: the checkpoint of the config.
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
const TICKS_PER_MS = 10_000n;
/** Milliseconds from the beginning of the Gregorian calendar, where ids count from, to 1970. */
const GREGORIAN_MS = 12_219_292_800_000n;
const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;

/** When a checkpoint was made, by the wall clock of the process that made it; `undefined` where its id has no time. */
export function checkpointTime(id: string): number | undefined {
  const [, high, middle, low] = UUID6.exec(id) ?? [];
  if (high === undefined) return undefined;
  return Number(BigInt(`0x${high}${middle}${low}`) / TICKS_PER_MS - GREGORIAN_MS);
}

/** Key of a checkpoint's metadata that names our run which wrote it. */
export const RUN_METADATA_KEY = "throughline_run";
/** Key of a checkpoint's metadata with the shape of the graph that wrote it. */
const SHAPE_METADATA_KEY = "throughline_graph";

export interface RunSaverOptions extends ClockedSaverOptions {
  /** Absent: checkpoints name no run. */
  readonly runId: string | undefined;
  /** Once it is aborted nothing is written, and nothing waits for a store in an outage. */
  readonly signal: AbortSignal;
  /** Called once, with the first write that was refused. It is expected to abort the graph. */
  readonly onWriteFailed: (error: unknown) => void;
}

/**
 * The saver of one run. It stamps every checkpoint with the run, by which a recovery distinguishes its own checkpoint from
 * one that an earlier run left. During an outage of the store the graph waits at its next checkpoint. Its writes never reject:
 * LangGraph collects write promises and awaits them when the superstep ends, so a rejection while a sibling node still
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

  /** Stamps later checkpoints with the shape of the graph that writes them. */
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
   * Greater than the last, as LangGraph requires, and unlike any other. Savers store a channel's value by its version, once:
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

/**
 * R17: a saver that writes only while its fence is the thread's newest, so that a driver which lost its lease can't write
 * over its successor. In the registry's own database the fence is a condition of the write itself; a saver
 * elsewhere checks the lease first. Reading needs no lease. A refused write rejects with a `conflict`.
 */
export function fencedSaver(saver: BaseCheckpointSaver, lease: LeasePort, fence: Fence): BaseCheckpointSaver {
  const { heldQuery } = lease;
  if (heldQuery && saver instanceof FencedPostgresSaver) return saver.heldBy({ fence, heldQuery });
  return new CheckedSaver(saver, () => lease.assertHeld(fence));
}

class CheckedSaver extends ForwardingSaver {
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

/** A saver for one reading of a thread: each checkpoint is read once, however many parts of the reading ask for it. */
export class ReadOnceSaver extends ForwardingSaver {
  readonly #tuples = new Map<string, Promise<CheckpointTuple | undefined>>();
  #hasFailed = false;

  /** Whether a checkpoint could not be read: an error of the reading is then the store's and not the graph's. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { configurable } = config;
    const key = JSON.stringify(
      ["thread_id", "checkpoint_ns", "checkpoint_id"].map((name) => read(configurable, name) ?? ""),
    );
    const asked = this.#tuples.get(key) ?? super.getTuple(config);
    this.#tuples.set(key, asked);
    const tuple = await asked.catch((error: unknown) => {
      this.#hasFailed = true;
      throw error;
    });
    // LangGraph writes into the checkpoint it is given when it applies pending writes to it.
    return tuple && { ...tuple, checkpoint: copyCheckpoint(tuple.checkpoint) };
  }
}
