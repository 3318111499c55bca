import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type pg from "pg";
import { isUnstorable } from "./attachment-serializer.js";
import { type HeldQuery, type Hold, heldQueryOf, notHeld } from "./hold.js";
import { withPreparedReads } from "./prepared-reads.js";
import { type NamedStatement, type SaverStatements, saverStatements } from "./saver-statements.js";

/**
 * PostgresSaver, with the same rows in the same tables, written in one statement each: theirs begins a transaction, inserts
 * row by row and commits, which is five round trips and more, and with many runs at once these are most of what a run costs.
 * R17: with a hold, that the fence is held is a condition of the statement itself. A process that was frozen before it sent
 * a write, or while it waited for one, can't write once another instance drives its run.
 */
export class FencedPostgresSaver extends PostgresSaver {
  readonly #pool: pg.Pool;
  readonly #schema: string;
  readonly #held: HeldQuery;
  readonly #statements: SaverStatements;

  constructor(pool: pg.Pool, schema: string, hold?: Hold) {
    super(withPreparedReads(pool), undefined, { schema });
    this.#pool = pool;
    this.#schema = schema;
    this.#held = heldQueryOf(hold);
    this.#statements = saverStatements(schema, this.#held);
  }

  /** The same checkpoints, written while the fence is held and no longer. */
  heldBy(hold: Hold): FencedPostgresSaver {
    const saver = new FencedPostgresSaver(this.#pool, this.#schema, hold);
    saver.serde = this.serde;
    return saver;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
    const channels = Object.keys(newVersions);
    const [dumped, [, described]] = await Promise.all([
      Promise.all(channels.map((channel) => this.#dumpChannel(checkpoint.channel_values, channel))),
      this.serde.dumpsTyped(metadata),
    ]);
    await this.#write(this.#statements.put, [
      thread_id,
      checkpoint_ns,
      checkpoint.id,
      checkpoint_id ?? null,
      JSON.stringify(this._dumpCheckpoint(checkpoint)),
      // PostgreSQL has no text with this character in it.
      new TextDecoder().decode(described).replaceAll("\0", ""),
      channels,
      channels.map((channel) => String(newVersions[channel])),
      ...columnsOf(dumped),
    ]);
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    if (writes.length === 0) return;
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const replaces = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const kept = replaces ? lastOfEach(writes) : writes;
    const dumped = await Promise.all(kept.map(([, value]) => this.serde.dumpsTyped(value)));
    await this.#write(replaces ? this.#statements.replace : this.#statements.add, [
      thread_id,
      checkpoint_ns,
      checkpoint_id,
      taskId,
      kept.map(([channel], index) => WRITES_IDX_MAP[channel] ?? index),
      kept.map(([channel]) => channel),
      ...columnsOf(dumped),
    ]);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#write(this.#statements.deleteThread, [threadId]);
  }

  async #dumpChannel(values: Checkpoint["channel_values"], channel: string): Promise<Dumped> {
    if (!(channel in values)) return ["empty", null];
    const dumped = await this.serde.dumpsTyped(values[channel]);
    // A graph that goes on from here would find the serializer's words as its value.
    return isUnstorable(values[channel]) ? ["empty", null] : dumped;
  }

  async #write({ name, text }: NamedStatement, values: readonly unknown[]): Promise<void> {
    const { rowCount } = await this.#pool.query({ name, text, values: [...this.#held.values, ...values] });
    if (rowCount === 0) throw notHeld();
  }
}

/** A value's type and bytes; a channel that was emptied has none. */
type Dumped = readonly [type: string, bytes: Uint8Array | null];

/** Types, all bytes one after the other, and where each value begins and how long it is. */
function columnsOf(dumped: readonly Dumped[]): readonly unknown[] {
  const starts: number[] = [];
  let end = 1;
  for (const [, bytes] of dumped) {
    starts.push(end);
    end += bytes?.byteLength ?? 0;
  }
  return [
    dumped.map(([type]) => type),
    Buffer.concat(dumped.flatMap(([, bytes]) => (bytes ? [bytes] : []))),
    starts,
    dumped.map(([, bytes]) => bytes?.byteLength ?? null),
  ];
}

/** Two writes to one of LangGraph's own channels have one place, and one statement writes a place once: the last stays. */
function lastOfEach(writes: readonly PendingWrite[]): PendingWrite[] {
  return [...new Map(writes.map((write) => [write[0], write])).values()];
}
