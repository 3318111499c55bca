import pg from "pg";

/** How long connecting to a server may take. */
const CONNECT_MS = 5_000;
/** How long a statement may wait for others to be done with their connections. */
const QUEUE_MS = 10_000;
/** After how long without traffic the system probes the connection. */
const KEEP_ALIVE_MS = 10_000;
/** Default deadline of a statement. */
export const DEFAULT_DEADLINE_MS = 10_000;

export interface StorePoolOptions {
  readonly connectionString: string;
  readonly maxConnections: number;
  readonly name: string;
  /** How long a statement may take; past it, its connection is closed. 0: no limit. */
  readonly deadlineMs: number;
  /**
   * Between us and the server is a pooler in transaction mode: each transaction may have another session, so nothing is set
   * for one and nothing is prepared in one.
   */
  readonly isPooled?: boolean;
}

/**
 * Settings for connections of a store that may fail at any time. A server that refuses the connection, a connection whose
 * other side is gone and a statement that does not end are noticed within seconds, as errors that a later try may not meet.
 */
export function storePool({
  connectionString,
  maxConnections,
  name,
  deadlineMs,
  isPooled = false,
}: StorePoolOptions): pg.PoolConfig {
  return {
    connectionString,
    max: Math.max(2, maxConnections),
    application_name: name,
    Client: isPooled ? PooledClient : DeadlineClient,
    // The pool's one timeout is for making a connection and for waiting for one; the client has its own for the first.
    connectionTimeoutMillis: QUEUE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: deadlineMs,
    async onConnect(client) {
      // A connection that breaks while idle must not end the process.
      client.on("error", () => {});
      // A statement that is no longer waited for must not hold its locks. Not a parameter of the connection: poolers refuse those.
      if (!isPooled) await client.query(`set statement_timeout = ${deadlineMs}`);
    },
  };
}

interface Addresses {
  readonly connectionString: string;
  readonly directConnectionString?: string | undefined;
}

/** The same, to the server itself: migrations hold a lock of their session's. */
export function withoutPooler<Options extends Addresses>(options: Options): Options {
  const { directConnectionString, connectionString } = options;
  return {
    ...options,
    connectionString: directConnectionString ?? connectionString,
    directConnectionString: undefined,
  };
}

/** An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process. */
export function surviveBrokenConnections(pool: pg.Pool): pg.Pool {
  return pool.on("error", () => {});
}

/**
 * A client that closes its connection when a statement has missed its deadline. pg reuses it, with the response to the old
 * statement still to come, and its next user would wait for that.
 */
class DeadlineClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
    const query = this.query;
    Reflect.set(this, "query", (...given: readonly unknown[]): unknown => {
      const answer: unknown = Reflect.apply(query, this, given);
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#closeIfLate(error));
      return answer;
    });
  }

  #closeIfLate(error: unknown): void {
    // With a statement under way this closes the socket at once.
    if (error instanceof Error && error.message === "Query read timeout") this.end().catch(() => {});
  }
}

/** Prepares nothing: a statement that is sent by its name would not be known to the session of the next transaction. */
class PooledClient extends DeadlineClient {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { query } = this;
    Reflect.set(this, "query", (first: unknown, ...rest: readonly unknown[]): unknown =>
      Reflect.apply(query, this, [isNamed(first) ? { ...first, name: undefined } : first, ...rest]),
    );
  }
}

function isNamed(query: unknown): query is { readonly name: string } {
  return typeof query === "object" && query !== null && "name" in query && typeof query.name === "string";
}
