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

type Row = readonly unknown[];

const BLOB_TYPES = ["text", "text", "text", "text", "text", "bytea"];
const WRITE_TYPES = ["text", "text", "text", "text", "int", "text", "text", "bytea"];
/** Statements of up to so many rows stay prepared; there is one for each number. */
const MAX_PREPARED_ROWS = 16;
/** A statement has 65,535 parameters; who writes that much at once does not wait for round trips. */
const MAX_ROWS = 1_000;

/**
 * PostgresSaver, with the same rows in the same tables, written in one statement each: theirs begins a transaction, inserts
 * row by row and commits, which is five round trips and more, and with many runs at once these are most of what a run costs.
 * A statement is a transaction of its own, so a process that is stopped in the middle leaves nothing half written.
 */
export class OneStatementSaver extends PostgresSaver {
  readonly #pool: pg.Pool;
  readonly #schema: string;

  constructor(pool: pg.Pool, schema: string) {
    super(pool, undefined, { schema });
    this.#pool = pool;
    this.#schema = schema;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    if (Object.keys(newVersions).length > MAX_ROWS) {
      return super.put(config, checkpoint, metadata, newVersions);
    }
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
    const [blobs, dumped]: [readonly Row[], unknown] = await Promise.all([
      this._dumpBlobs(thread_id, checkpoint_ns, checkpoint.channel_values, newVersions),
      this._dumpMetadata(metadata),
    ]);
    const own = [
      thread_id,
      checkpoint_ns,
      checkpoint.id,
      checkpoint_id ?? null,
      JSON.stringify(this._dumpCheckpoint(checkpoint)),
      JSON.stringify(dumped),
    ];
    const schema = `"${this.#schema}"`;
    const withBlobs =
      blobs.length === 0
        ? ""
        : `with blobs as (
             insert into ${schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
             values ${placeholders(blobs.length, BLOB_TYPES, own.length)}
             on conflict (thread_id, checkpoint_ns, channel, version) do nothing
           )`;
    await this.#write("put", blobs, {
      text: `${withBlobs}
        insert into ${schema}.checkpoints
          (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
        values ($1, $2, $3, $4, $5::jsonb, $6::jsonb)
        on conflict (thread_id, checkpoint_ns, checkpoint_id)
        do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata`,
      values: own,
    });
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    if (writes.length === 0) return;
    if (writes.length > MAX_ROWS) return super.putWrites(config, writes, taskId);
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const replaces = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const dumped: readonly Row[] = await this._dumpWrites(
      thread_id,
      checkpoint_ns,
      checkpoint_id,
      taskId,
      replaces ? lastOfEach(writes) : writes,
    );
    await this.#write(replaces ? "replace" : "add", dumped, {
      text: `insert into "${this.#schema}".checkpoint_writes
          (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
        values ${placeholders(dumped.length, WRITE_TYPES, 0)}
        on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${
          replaces
            ? "do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob"
            : "do nothing"
        }`,
      values: [],
    });
  }

  async #write(
    what: string,
    rows: readonly Row[],
    { text, values }: { readonly text: string; readonly values: readonly unknown[] },
  ): Promise<void> {
    const name = `${this.#schema}_${what}_${rows.length}`;
    await this.#pool.query({
      ...(rows.length <= MAX_PREPARED_ROWS && { name }),
      text,
      values: [...values, ...rows.flat()],
    });
  }
}

/** `($7::text, …), ($13::text, …)`: so many rows of these types, after as many parameters. */
function placeholders(rows: number, types: readonly string[], after: number): string {
  return Array.from({ length: rows }, (_, row) => {
    const cells = types.map((type, column) => `$${after + row * types.length + column + 1}::${type}`);
    return `(${cells.join(", ")})`;
  }).join(", ");
}

/** Two writes to one of LangGraph's own channels have one place, and one statement writes a place once: the last stays. */
function lastOfEach(writes: readonly PendingWrite[]): PendingWrite[] {
  return [...new Map(writes.map((write) => [write[0], write])).values()];
}
