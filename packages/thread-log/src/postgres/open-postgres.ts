import { randomBytes } from "node:crypto";
import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { renewEpochsAfterRestore } from "./cluster-identity.js";
import { migrate } from "./migrate.js";
import { MIGRATIONS } from "./migrations.js";
import { startWakeListener } from "./wake-listener.js";
import { decodeWake, encodeWake, type WakeMessage } from "./wake-message.js";

export interface PostgresOptions {
  /** A URL, or whatever `pg` takes. */
  readonly connection: string | pg.ClientConfig;
  /** Default `throughline`. */
  readonly schema?: string;
  /** For reads and the registry. Beside them an instance has one connection that commits and one that listens. Default 8. */
  readonly maxConnections?: number;
  /** Only for waiting between attempts to connect; every lease and expiry is by the database's clock (R18). */
  readonly clock?: Clock;
}

/** One instance's connections to a database, migrated and listening. */
export interface PostgresDatabase {
  readonly pool: pg.Pool;
  /** Commits alone: a herd of joining readers must not keep a writer waiting for a connection. */
  readonly writer: pg.Pool;
  readonly connection: pg.ClientConfig;
  readonly schema: string;
  readonly channel: string;
  /** The payload of `notify {channel}` for a message to the other instances. */
  payload(message: WakeMessage): string;
  /** Messages of other instances, and `all` after the connection was lost. */
  onWake(listener: (message: WakeMessage) => void): () => void;
  /** Tells the listeners of this instance only. */
  tellOwn(message: WakeMessage): void;
  close(): Promise<void>;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,39}$/;

export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const { schema = "throughline", maxConnections = 8, clock = systemClock } = options;
  if (!SCHEMA.test(schema)) {
    throw new ThroughlineError("invalid_input", "schema: 1–40 characters of a–z, 0–9 and _", {
      details: { field: "schema" },
    });
  }
  const connection =
    typeof options.connection === "string" ? { connectionString: options.connection } : options.connection;
  const pool = createPool(connection, maxConnections, "throughline");
  const writer = createPool(connection, 1, "throughline commit");
  const instance = randomBytes(6).toString("base64url");
  const channel = `${schema}_wake`;
  const listeners = new Set<(message: WakeMessage) => void>();
  const tellOwn = (message: WakeMessage) => {
    for (const listener of listeners) listener(message);
  };
  try {
    await migrate(pool, schema, { record: "migrations", migrations: MIGRATIONS });
    await renewEpochsAfterRestore(pool, schema);
    const wakes = await startWakeListener({
      connection,
      channel,
      clock,
      onPayload(payload) {
        const message = decodeWake(instance, payload);
        if (message) tellOwn(message);
      },
      onReconnected() {
        // A failover is a reconnect to a database that may have lost something.
        void renewEpochsAfterRestore(pool, schema)
          .catch(() => {})
          .then(() => tellOwn({ kind: "all" }));
      },
    });
    return {
      pool,
      writer,
      connection,
      schema,
      channel,
      payload: (message) => encodeWake(instance, message),
      onWake(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      tellOwn,
      async close() {
        listeners.clear();
        await Promise.all([wakes.close(), pool.end(), writer.end()]);
      },
    };
  } catch (error) {
    await Promise.all([pool.end(), writer.end()]);
    throw error;
  }
}

/** How long a server may take to let us in. */
const CONNECT_MS = 5_000;
/** How long a statement may wait for others to be done with their connections: what starts all at once is served in turn. */
const QUEUE_MS = 30_000;

/** The pool's one timeout is for both; a server that is away must be noticed earlier than a long queue. */
class QuickClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }
}

function createPool(connection: pg.ClientConfig, max: number, applicationName: string): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max,
    application_name: applicationName,
    Client: QuickClient,
    connectionTimeoutMillis: QUEUE_MS,
  });
  // An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}
