import { createHash } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { type Fence, type LeasePort, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { isUnstorable } from "./serializer.js";

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
    const unique = replaces ? lastOfEach(writes) : writes;
    const dumped = await Promise.all(unique.map(([, value]) => this.serde.dumpsTyped(value)));
    await this.#write(replaces ? this.#statements.replace : this.#statements.add, [
      thread_id,
      checkpoint_ns,
      checkpoint_id,
      taskId,
      unique.map(([channel], index) => WRITES_IDX_MAP[channel] ?? index),
      unique.map(([channel]) => channel),
      ...columnsOf(dumped),
    ]);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#write(this.#statements.deleteThread, [threadId]);
  }

  async #dumpChannel(values: Checkpoint["channel_values"], channel: string): Promise<Dumped> {
    if (!(channel in values)) return ["empty", null];
    const dumped = await this.serde.dumpsTyped(values[channel]);
    // A graph that continues from here would find the serializer's error text as its value.
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

/** The last write to each channel: two writes to one of LangGraph's own channels share a row, and a statement writes a row once. */
function lastOfEach(writes: readonly PendingWrite[]): PendingWrite[] {
  return [...new Map(writes.map((write) => [write[0], write])).values()];
}

interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Every write of a saver. Each returns one row when it was allowed and none when the fence was not held. */
interface SaverStatements {
  /** A checkpoint with the values of the channels it changed. */
  readonly put: NamedStatement;
  /** Pending writes of a task; those that are stored already stay. */
  readonly add: NamedStatement;
  /** Writes to LangGraph's own channels; the newer one stays. */
  readonly replace: NamedStatement;
  readonly deleteThread: NamedStatement;
}

const made = new Map<string, SaverStatements>();

/** Made once per schema and condition: a connection keeps a statement prepared by its name. */
function saverStatements(schema: string, held: HeldQuery): SaverStatements {
  const key = `${schema} ${held.text}`;
  const statements = made.get(key) ?? makeStatements(`"${schema}"`, held);
  made.set(key, statements);
  return statements;
}

/**
 * `held` locks the run's row until the statement commits, so a takeover comes before the write or after it and never in
 * between. Rows travel as one array per column, and their blobs as one value that is cut by `start` and `length`:
 * a statement is the same for any number of rows, and no byte is sent as text.
 */
function makeStatements(schema: string, { text, values }: HeldQuery): SaverStatements {
  const $ = (position: number) => `$${values.length + position}`;
  const held = `with held as (${text})`;
  const addWrites = (onConflict: string) => `${held}, written as (
      insert into ${schema}.checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
      select ${$(1)}::text, ${$(2)}::text, ${$(3)}::text, ${$(4)}::text, w.idx, w.channel, w.type,
        substring(${$(8)}::bytea from w.start for w.length)
      from held, unnest(${$(5)}::int[], ${$(6)}::text[], ${$(7)}::text[], ${$(9)}::int[], ${$(10)}::int[])
        as w (idx, channel, type, start, length)
      on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onConflict}
    )
    select 1 from held`;
  const deleteFrom = (table: string) =>
    `${table} as (delete from ${schema}.${table} where thread_id = ${$(1)} and exists (select from held))`;
  return {
    put: named(`${held}, blobs as (
      insert into ${schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
      select ${$(1)}::text, ${$(2)}::text, b.channel, b.version, b.type,
        substring(${$(10)}::bytea from b.start for b.length)
      from held, unnest(${$(7)}::text[], ${$(8)}::text[], ${$(9)}::text[], ${$(11)}::int[], ${$(12)}::int[])
        as b (channel, version, type, start, length)
      on conflict (thread_id, checkpoint_ns, channel, version) do nothing
    ), written as (
      insert into ${schema}.checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
      select ${$(1)}::text, ${$(2)}::text, ${$(3)}::text, ${$(4)}::text, ${$(5)}::jsonb, ${$(6)}::jsonb
      from held
      on conflict (thread_id, checkpoint_ns, checkpoint_id)
      do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
    )
    select 1 from held`),
    add: named(addWrites("do nothing")),
    replace: named(
      addWrites("do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob"),
    ),
    deleteThread: named(
      `${held}, ${["checkpoints", "checkpoint_blobs", "checkpoint_writes"].map(deleteFrom).join(", ")}
      select 1 from held`,
    ),
  };
}

function named(text: string): NamedStatement {
  return { name: createHash("sha1").update(text).digest("hex"), text };
}

/** PostgresSaver's reading of one checkpoint: the one that is named, or the newest. */
const ONE_CHECKPOINT = /(checkpoint_id = \$3|order by checkpoint_id desc limit 1)$/i;

/**
 * A pool for PostgresSaver in which reading one checkpoint stays prepared. Planning that statement takes the database
 * longer than executing it. Lists are left alone: their texts differ, and a connection keeps what it has prepared.
 */
function withPreparedReads(pool: pg.Pool): pg.Pool {
  const names = new Map<string, string>();

  function query(text: unknown, values: unknown): unknown {
    if (typeof text !== "string" || !ONE_CHECKPOINT.test(text)) {
      return Reflect.apply(pool.query, pool, [text, values]);
    }
    const name = names.get(text) ?? createHash("sha1").update(text).digest("hex");
    names.set(text, name);
    return Reflect.apply(pool.query, pool, [{ name, text, values }]);
  }

  return new Proxy(pool, {
    get(_, key) {
      if (key === "query") return query;
      const value: unknown = Reflect.get(pool, key);
      return typeof value === "function" ? value.bind(pool) : value;
    },
  });
}

/** The condition of a write in the registry's own database: the fence is still held. */
export interface Hold {
  readonly fence: Fence;
  readonly heldQuery: NonNullable<LeasePort["heldQuery"]>;
}

/** A query with a row while a write is allowed. Its parameters are the first ones of the statement it is part of. */
export interface HeldQuery {
  readonly text: string;
  readonly values: readonly string[];
}

/** Without a hold every write is allowed. */
export function heldQueryOf(hold: Hold | undefined): HeldQuery {
  if (!hold) return { text: "select 1", values: [] };
  return { text: hold.heldQuery(1), values: [hold.fence.runId, String(hold.fence.token)] };
}

/** The error of a write whose fence is no longer held. */
export function notHeld(): ThroughlineError {
  return new ThroughlineError("conflict", "Another instance drives this run by now.");
}

/** The type `bytea[]`, in which PostgresSaver reads the channels and writes of a checkpoint. */
const BYTEA_ARRAY: number = 1001;
const ELEMENT = '"\\\\x';

type ByteaArray = readonly (Buffer | null | ByteaArray)[];

/**
 * Type parsers for connections that read checkpoints. pg's own goes through an array character by character, and blocks the
 * process for a second per two megabytes of conversation, several times a run; this one goes from quote to quote.
 */
export const checkpointTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === BYTEA_ARRAY && format !== "binary") return parseByteaArray;
    return format === "binary" ? pg.types.getTypeParser(oid, format) : pg.types.getTypeParser(oid, "text");
  },
};

/** Parses PostgreSQL's text form with `bytea_output = hex`, its default; any other form is left to pg. */
export function parseByteaArray(text: string): ByteaArray {
  let at = 0;

  function array(): ByteaArray | undefined {
    const items: (Buffer | null | ByteaArray)[] = [];
    at += 1;
    while (at < text.length) {
      if (text[at] === "}") {
        at += 1;
        return items;
      }
      if (text[at] === ",") at += 1;
      else if (text[at] === "{") {
        const inner = array();
        if (inner === undefined) return undefined;
        items.push(inner);
      } else if (text.startsWith(ELEMENT, at)) {
        const end = text.indexOf('"', at + ELEMENT.length);
        items.push(Buffer.from(text.slice(at + ELEMENT.length, end), "hex"));
        at = end + 1;
      } else if (text.startsWith("NULL", at)) {
        items.push(null);
        at += "NULL".length;
      } else return undefined;
    }
    return undefined;
  }

  return (text.startsWith("{") ? array() : undefined) ?? pg.types.getTypeParser(BYTEA_ARRAY, "text")(text);
}
