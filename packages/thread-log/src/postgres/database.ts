import { randomBytes } from "node:crypto";
import { type Clock, systemClock, ThroughlineError, toStoreFailure } from "@throughline/ai-core";
import type pg from "pg";
import {
  createNotifier,
  decodeNotification,
  encodeNotification,
  listenForNotifications,
  type Notification,
} from "./connection/notifications.js";
import { createPool, STATEMENT_MS } from "./connection/pool.js";
import { renewEpochsAfterOutage, renewEpochsAfterRestore, type Sender } from "./connection/restore.js";
import { behindPooler, inTransaction, isTransactionPooler } from "./connection/transaction.js";
import { migrate } from "./schema/migrate.js";
import { MIGRATIONS } from "./schema/tables.js";

export interface PostgresOptions {
  /** A URL, or whatever `pg` takes. */
  readonly connection: string | pg.ClientConfig;
  /** The server itself, where `connection` is a pooler in transaction mode. */
  readonly direct?: string | pg.ClientConfig | undefined;
  /** Default `throughline`. */
  readonly schema?: string;
  /** For reads and the registry. Default 8. In addition an instance has its committers and one that listens. */
  readonly maxConnections?: number;
  /** How many commits are under way at once. Default 4; one more connection is for threads that others hold. */
  readonly committers?: number;
  /** Only for waiting between attempts to connect; every lease and expiry is by the database's clock (R18). */
  readonly clock?: Clock;
  /** How long a statement may take; one that takes longer counts as unanswered, and its connection as broken. Default 10 s. */
  readonly statementMs?: number;
  /** Failures in the background, other than outages, which are waited for. */
  readonly onError?: (error: unknown) => void;
}

/** One instance's connections to a database, migrated and listening. */
export interface PostgresDatabase {
  readonly pool: pg.Pool;
  /** For commits alone: a herd of joining readers must not make a writer wait for a connection. */
  readonly writer: pg.Pool;
  readonly committers: number;
  /** Sends a statement that writes to threads. It fails where it waits for another session's lock for more than a moment. */
  commit<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
  /** Reaches the server itself, for what needs a session of its own. */
  readonly direct: pg.ClientConfig;
  /** Connections to the server itself, for migrations. The same as `pool` unless there is a pooler. */
  readonly directPool: pg.Pool;
  readonly schema: string;
  readonly channel: string;
  /** The payload of `notify {channel}` for a message to the other instances. */
  payload(message: Notification): string;
  /** Messages of other instances, and `all` after the connection was lost. */
  onWake(listener: (message: Notification) => void): () => void;
  /** Notifies the other instances of changed threads, soon and once for all that are passed meanwhile. */
  notifyOthers(tags: readonly string[]): void;
  /** Notifies the other instances that a run can be claimed. */
  notifyReleased(): void;
  /** Notifies the listeners of this instance only. */
  notifySelf(message: Notification): void;
  close(): Promise<void>;
}

/** A lock that is held for longer than this delays its own thread only; a statement holds one for less. */
const LOCK_MS = 50;
/** Where `pool` goes through a pooler: migrations run one after the other. */
const DIRECT_CONNECTIONS = 1;
const DEFAULT_COMMITTERS = 4;
/** By so much subscribers on other instances may be later. Tokens come every 50 ms, or several at a time. */
const WAKE_EVERY_MS = 20;
/** Commits under way at once while the store answers quickly. */
const OFTEN_AT_ONCE = 2;

const SCHEMA = /^[a-z_][a-z0-9_]{0,39}$/;

export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const { schema = "throughline", maxConnections = 8, clock = systemClock, onError = () => {} } = options;
  const statementMs = options.statementMs ?? STATEMENT_MS;
  if (!SCHEMA.test(schema)) {
    throw new ThroughlineError("invalid_input", "schema: 1–40 characters of a–z, 0–9 and _", {
      details: { field: "schema" },
    });
  }
  const { committers = DEFAULT_COMMITTERS } = options;
  const connection = configOf(options.connection);
  const isPooled = options.direct !== undefined;
  const direct = options.direct === undefined ? connection : configOf(options.direct);
  const pools = {
    shared: createPool({
      connection,
      max: maxConnections,
      min: 1,
      applicationName: "throughline",
      statementMs,
      isPooled,
    }),
    writer: createPool({
      connection,
      max: committers + 1,
      min: Math.min(committers, OFTEN_AT_ONCE),
      applicationName: "throughline commit",
      statementMs,
      lockMs: LOCK_MS,
      isPooled,
    }),
    direct: isPooled
      ? createPool({
          connection: direct,
          max: DIRECT_CONNECTIONS,
          applicationName: "throughline direct",
          statementMs,
        })
      : undefined,
  };
  const { pool } = pools.shared;
  const writer = pools.writer.pool;
  const directPool = pools.direct?.pool ?? pool;
  const closing = new AbortController();
  const instance = randomBytes(6).toString("base64url");
  const channel = `${schema}_wake`;
  const listeners = new Set<(message: Notification) => void>();
  const notifySelf = (message: Notification) => {
    for (const listener of listeners) listener(message);
  };
  async function closePools(): Promise<void> {
    await Promise.all([pools.shared.close(), pools.writer.close(), pools.direct?.close()]);
  }

  /** Epochs first: after a failover to a database that has lost entries, cursors of before must not be served. */
  async function afterReconnect(fresh: Sender): Promise<void> {
    await renewEpochsAfterOutage({ pool, fresh, schema, clock, signal: closing.signal, onError });
    notifySelf({ kind: "all" });
  }

  try {
    if (!isPooled && (await isTransactionPooler(connection))) throw behindPooler();
    await migrate(directPool, schema, { record: "migrations", migrations: MIGRATIONS });
    await renewEpochsAfterRestore(pool, schema);
    const wakes = await listenForNotifications({
      connection: direct,
      channel,
      clock,
      statementMs,
      onPayload(payload) {
        const message = decodeNotification(instance, payload);
        if (message) notifySelf(message);
      },
      onReconnected() {
        sender.resume();
        releases.resume();
        void afterReconnect(wakes);
      },
    });
    const sender = createNotifier({
      send: (tags) => wakes.send(encodeNotification(instance, { kind: "threads", tags })),
      clock,
      everyMs: WAKE_EVERY_MS,
    });
    const releases = createNotifier({
      send: () => wakes.send(encodeNotification(instance, { kind: "released" })),
      clock,
      everyMs: 0,
    });
    return {
      pool,
      writer,
      committers,
      commit: (statement) =>
        isPooled
          ? inTransaction(writer, (client) => client.query(statement), { statementMs, lockMs: LOCK_MS })
          : writer.query(statement),
      direct,
      directPool,
      schema,
      channel,
      payload: (message) => encodeNotification(instance, message),
      onWake(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      notifyOthers: sender.notify,
      notifyReleased: () => releases.notify(["any"]),
      notifySelf,
      async close() {
        closing.abort();
        listeners.clear();
        await Promise.all([wakes.close(), closePools()]);
      },
    };
  } catch (error) {
    await closePools();
    throw toStoreFailure(error);
  }
}

function configOf(connection: string | pg.ClientConfig): pg.ClientConfig {
  return typeof connection === "string" ? { connectionString: connection } : connection;
}

/** A random name of this database, made once: the key of what is stored about it outside of it. */
export async function databaseId({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): Promise<string> {
  await pool.query(`insert into ${schema}.meta (key, value) values ('database', $1) on conflict do nothing`, [
    randomBytes(9).toString("base64url"),
  ]);
  const { rows } = await pool.query<{ value: string }>(
    `select value from ${schema}.meta where key = 'database'`,
  );
  return rows[0]?.value ?? "";
}
