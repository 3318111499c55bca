import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isStoreOutage, StoreOutage, toStoreFailure } from "@throughline/ai-core";
import pg from "pg";

export interface PoolOptions {
  readonly connection: pg.ClientConfig;
  readonly max: number;
  /** How many stay open though they are idle: what comes after a pause must not wait for a connection. Default none. */
  readonly min?: number;
  readonly applicationName: string;
  readonly statementMs: number;
  /** How long a statement may wait for a lock. Default: as long as it may take. Not for a pooler. */
  readonly lockMs?: number;
  /**
   * Between us and the server is a pooler in transaction mode: each transaction may have another session, so nothing is set
   * for one and nothing is prepared in one. A statement then has our deadline only, unless it is part of a transaction.
   */
  readonly isPooled?: boolean;
}

export interface OwnPool {
  readonly pool: pg.Pool;
  /** Lets statements under way finish for a while, then cuts their connections. */
  close(): Promise<void>;
}

/** How long a statement may wait for others to be done with their connections: what starts all at once is served in turn. */
const QUEUE_MS = 30_000;
const CLOSE_MS = 5_000;

/** The pool's one timeout is for both; a server that is away must be noticed earlier than a long queue. */
class DeadlineClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
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

/**
 * A pool whose every wait has a deadline, and whose queries fail with a `StoreOutage` when the database is away. A connection
 * that is in doubt after a failure is destroyed, not used again.
 */
export function createPool(options: PoolOptions): OwnPool {
  const { connection, max, min = 0, applicationName, statementMs, lockMs, isPooled = false } = options;
  const settings = [`set statement_timeout = ${serverDeadline(statementMs)}`];
  if (lockMs !== undefined) settings.push(`set lock_timeout = ${lockMs}`);
  const pool = new pg.Pool({
    ...connection,
    ...KEEP_ALIVE,
    max,
    min,
    application_name: applicationName,
    Client: isPooled ? PooledClient : DeadlineClient,
    connectionTimeoutMillis: QUEUE_MS,
    query_timeout: statementMs,
    // Not a parameter of the connection: poolers refuse those. One that refuses this, too, leaves us our own deadline.
    async onConnect(client) {
      if (isPooled) return;
      await client.query(settings.join("; ")).catch((error: unknown) => {
        if (isStoreOutage(error)) throw error;
      });
    },
  });
  const send = pool.query;
  pool.query = (...args: unknown[]) => {
    const answer = Reflect.apply(send, pool, args);
    return answer instanceof Promise ? answer.catch(rethrow) : answer;
  };
  const open = new Set<pg.PoolClient>();
  pool.on("connect", (client) => void open.add(client));
  pool.on("release", (error, client) => {
    if (isConnectionInDoubt(error)) cut(client);
  });
  pool.on("remove", (client) => void open.delete(client));
  // An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process.
  pool.on("error", () => {});

  function allRemoved(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (open.size === 0) resolve();
      };
      pool.on("remove", look);
      look();
    });
  }

  return {
    pool,
    async close() {
      const ended = Promise.all([pool.end(), allRemoved()]);
      if (await within(CLOSE_MS, ended)) return;
      for (const client of open) cut(client);
    },
  };
}

function rethrow(error: unknown): never {
  throw toStoreFailure(error);
}

/**
 * Drops also what the system has not sent yet: a commit that was abandoned must not reach the server after its repetition.
 * Only plain TCP can do that.
 */
function cut(client: pg.PoolClient): void {
  const { stream } = client.connection;
  const isPlain = stream instanceof Socket && !(stream instanceof TLSSocket);
  if (isPlain && stream.remoteAddress !== undefined) stream.resetAndDestroy();
  else stream.destroy();
}

/** How long a server may take to let us in. */
export const CONNECT_MS = 5_000;

/** How long a statement may take by default. */
export const STATEMENT_MS = 10_000;

/** Migrations, and statements that rewrite every thread. */
export const MIGRATION_MS = 10 * 60_000;

/** Deletion and trimming of threads that hold many entries. */
export const BULK_MS = 2 * 60_000;

/** Finds out within about 15 s that the other end of an idle connection is gone. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const;

/**
 * The server's own deadline for a statement. It lies below ours, so that a statement that is merely slow is cancelled by the
 * server, and ours is met only where the connection is broken.
 */
export function serverDeadline(statementMs: number): number {
  return Math.max(1, Math.floor(statementMs * 0.9));
}

/** Wraps a client so that its statements have another deadline than its connection's. Calls must be awaited: no callbacks. */
export function withDeadline(client: pg.PoolClient, statementMs: number): pg.PoolClient {
  return new Proxy(client, {
    get(_, name) {
      const member: unknown = Reflect.get(client, name);
      if (typeof member !== "function") return member;
      if (name !== "query") return member.bind(client);
      return (query: string | pg.QueryConfig, values?: unknown[]) => {
        const asked = typeof query === "string" ? { text: query, ...(values && { values }) } : query;
        return Reflect.apply(member, client, [{ ...asked, query_timeout: statementMs }]);
      };
    },
  });
}

/**
 * Whether a failure leaves the state of its connection unknown. It does not where the server answered, unless that was its
 * last word on this connection.
 */
export function isConnectionInDoubt(error: unknown): boolean {
  const cause = error instanceof StoreOutage ? error.cause : error;
  const wasAnswered = cause instanceof pg.DatabaseError && cause.severity !== "FATAL";
  return isStoreOutage(error) && !wasAnswered;
}
/** Whether the work was done in time. What fails is done, too. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}
