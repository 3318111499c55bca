import { createHash } from "node:crypto";
import type { HeldQuery } from "./hold.js";

export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Every write of a saver. Each gives one row when it was allowed and none when the fence was not held. */
export interface SaverStatements {
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
export function saverStatements(schema: string, held: HeldQuery): SaverStatements {
  const key = `${schema} ${held.text}`;
  const statements = made.get(key) ?? makeStatements(`"${schema}"`, held);
  made.set(key, statements);
  return statements;
}

/**
 * `held` locks the run's row until the statement commits, so a takeover comes before the write or after it and never in
 * between. Rows travel as one array per column, and their blobs as one value that is cut where `start` and `length` say:
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
