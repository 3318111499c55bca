import {
  BaseStore,
  type Operation,
  type OperationResults,
  type PutOperation,
} from "@langchain/langgraph-checkpoint";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import {
  type Clock,
  type Fence,
  isStoreOutage,
  type LeasePort,
  retryStore,
  ThroughlineError,
} from "@throughline/ai-core";
import { read, readNumber } from "@throughline/coerce";
import pg from "pg";
import { type HeldQuery, type Hold, heldQueryOf, notHeld } from "../checkpoints/fenced-postgres-saver.js";

export interface RunStoreOptions {
  readonly clock: Clock;
  /** Once it is aborted nothing is written, and nothing waits for a store in an outage. */
  readonly signal: AbortSignal;
  /** Called with a write that was refused because another instance drives the run. It is expected to abort the graph. */
  readonly onWriteFailed: (error: unknown) => void;
}

/**
 * The store of one run. A node that uses it waits through an outage of the database. It accepts writes only while the run is open:
 * a node that ignores its abort signal may come back long after its run ended, and would bring back what was deleted since.
 * Reading is always allowed. What comes too late is dropped without a word: a rejection that nothing waits for would end
 * the process.
 */
export class RunStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #options: RunStoreOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(inner: BaseStore, options: RunStoreOptions) {
    super();
    this.#inner = inner;
    this.#options = options;
  }

  /** Resolves when what was under way is done, so that a deletion after it deletes that too. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  /** The one method every other goes through, LangGraph's own batching included. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const perform = () => retryStore(this.#options, () => this.#inner.batch(operations));
    if (!operations.some(isWrite)) return perform();
    if (this.#takesNothing) return this.#readOnly(operations);
    const writing = perform();
    this.#underWay.add(writing);
    try {
      return await writing;
    } catch (error) {
      if (!this.#takesNothing && isConflict(error)) this.#options.onWriteFailed(error);
      else if (!isConflict(error) && !isStoreOutage(error)) throw error;
      return this.#readOnly(operations);
    } finally {
      this.#underWay.delete(writing);
    }
  }

  get #takesNothing(): boolean {
    return this.#closed || this.#options.signal.aborted;
  }

  async #readOnly<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const reads = operations.filter((operation) => !isWrite(operation));
    const results: unknown[] = reads.length > 0 ? await this.#inner.batch(reads) : [];
    const all = operations.map((operation) => (isWrite(operation) ? undefined : results.shift()));
    // One result per operation, of its kind: the type of a map can't express that.
    return all as OperationResults<Op>;
  }
}

function isWrite(operation: Operation): boolean {
  return "value" in operation;
}

function isConflict(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "conflict";
}

/** R17: a LangGraph store for one run, with the same promise as `fencedSaver`. */
export function fencedStore(store: BaseStore, lease: LeasePort, fence: Fence): BaseStore {
  const { heldQuery } = lease;
  if (heldQuery && store instanceof FencedPostgresStore) return store.heldBy({ fence, heldQuery });
  return new CheckedStore(store, () => lease.assertHeld(fence));
}

class CheckedStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #assertHeld: () => Promise<void>;

  constructor(inner: BaseStore, assertHeld: () => Promise<void>) {
    super();
    this.#inner = inner;
    this.#assertHeld = assertHeld;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    if (operations.some((operation) => "value" in operation)) await this.#assertHeld();
    return this.#inner.batch(operations);
  }
}

const MINUTE_MS = 60_000;

/** PostgresStore, which can be given to a run whose writes count only while its fence is held (R17). */
export class FencedPostgresStore extends PostgresStore {
  readonly #schema: string;

  constructor(connection: pg.PoolConfig, schema: string) {
    super({ connectionOptions: connection, schema, ensureTables: false });
    this.#schema = schema;
  }

  get pool(): pg.Pool {
    const pool = read(read(this, "core"), "pool");
    if (pool instanceof pg.Pool) return pool;
    throw new ThroughlineError("internal", "This version of the store keeps its connections elsewhere.");
  }

  heldBy(hold: Hold): BaseStore {
    return new HeldStore(this, this.pool, `"${this.#schema}"`, heldQueryOf(hold));
  }
}

/** The same items, written in one statement each, of which the fence is a condition. Reading needs none. */
class HeldStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #pool: pg.Pool;
  readonly #held: HeldQuery;
  readonly #put: string;
  readonly #delete: string;

  constructor(inner: BaseStore, pool: pg.Pool, schema: string, held: HeldQuery) {
    super();
    this.#inner = inner;
    this.#pool = pool;
    this.#held = held;
    const $ = (position: number) => `$${held.values.length + position}`;
    this.#put = `with held as (${held.text}), written as (
        insert into ${schema}.store (namespace_path, key, value, expires_at)
        select ${$(1)}::text, ${$(2)}::text, ${$(3)}::jsonb, ${$(4)}::timestamptz from held
        on conflict (namespace_path, key) do update
        set value = excluded.value, expires_at = excluded.expires_at, updated_at = current_timestamp
      )
      select 1 from held`;
    this.#delete = `with held as (${held.text}), deleted as (
        delete from ${schema}.store
        where namespace_path = ${$(1)} and key = ${$(2)} and exists (select from held)
      )
      select 1 from held`;
  }

  /** In the order given, as PostgresStore does it, so that a read sees the writes before it. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) {
      if ("value" in operation) results.push(await this.#write(operation));
      else results.push(...(await this.#inner.batch([operation])));
    }
    // One result per operation, of its kind: the type of a loop can't express that.
    return results as OperationResults<Op>;
  }

  async #write({ namespace, key, value, ...rest }: PutOperation): Promise<void> {
    requireNamespace(namespace);
    const item = [...this.#held.values, namespace.join(":"), key];
    const { rowCount } =
      value === null
        ? await this.#pool.query(this.#delete, item)
        : await this.#pool.query(this.#put, [...item, JSON.stringify(value), expiryOf(rest)]);
    if (rowCount === 0) throw notHeld();
  }
}

/** PostgresStore takes a time to live in minutes, which LangGraph's own type of the operation does not name. */
function expiryOf(operation: object): Date | null {
  const ttl = readNumber(read(operation, "options"), "ttl");
  return ttl ? new Date(Date.now() + ttl * MINUTE_MS) : null;
}

/** Throws for namespaces that PostgresStore refuses: searches match by pattern and join labels by a colon. */
function requireNamespace(namespace: readonly string[]): void {
  const isWrong = (label: string) => typeof label !== "string" || label === "" || /[.%_\\]/.test(label);
  if (namespace.length > 0 && !namespace.some(isWrong) && namespace[0] !== "langgraph") return;
  throw new ThroughlineError(
    "invalid_input",
    `A namespace is a list of labels, none of them empty or with one of . % _ \\ in it, and "langgraph" is not the first: ${JSON.stringify(namespace)}.`,
    { details: { field: "namespace" } },
  );
}
