import { type Clock, StoreOutage, type Timer } from "@throughline/ai-core";
import pg from "pg";
import { CONNECT_MS, isConnectionInDoubt, KEEP_ALIVE } from "./deadlines.js";
import { within } from "./within.js";

export interface WakeListenerOptions {
  readonly connection: pg.ClientConfig;
  readonly channel: string;
  readonly clock: Clock;
  readonly statementMs: number;
  readonly onPayload: (payload: string) => void;
  /** After every connection but the first: notifications sent meanwhile are lost, so everything must be read again. */
  readonly onReconnected: () => void;
}

export interface WakeListener {
  /** On the listener's own connection, which alone may be without a pooler. Fails where that is lost. */
  send(payload: string): Promise<void>;
  /** On the same connection, which after an outage is a new one. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
  close(): Promise<void>;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** A connection whose other end vanished without a word is noticed after one of these and a statement's deadline. */
const PROBE_EVERY_MS = 10_000;
const CLOSE_MS = 1_000;

interface Connected {
  readonly client: pg.Client;
  /** Gives the connection up, and makes another. */
  readonly drop: () => void;
}

/**
 * The one LISTEN connection of an instance, whatever the number of watchers. Resolves once it listens. It has one statement
 * at a time, because pg's own queue is deprecated; one that misses its deadline costs the connection.
 */
export async function startWakeListener(options: WakeListenerOptions): Promise<WakeListener> {
  const { connection, channel, clock, statementMs, onPayload, onReconnected } = options;
  let current: Connected | undefined;
  let timer: Timer | undefined;
  let closed = false;
  let lastAsked: Promise<unknown> = Promise.resolve();

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      ...KEEP_ALIVE,
      application_name: "throughline wake",
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: statementMs,
    });
    let lost = false;
    const drop = () => {
      if (lost) return;
      lost = true;
      fresh.connection.stream.destroy();
      if (current?.client === fresh && !closed) reconnect(FIRST_DELAY_MS);
    };
    fresh.on("error", drop);
    fresh.on("end", drop);
    fresh.on("notification", ({ payload }) => onPayload(payload ?? ""));
    try {
      await fresh.connect();
      // A notification writes a commit record; waiting until that is on disk would keep nothing that matters.
      await fresh.query(`set synchronous_commit = off; listen ${channel}`);
    } catch (error) {
      lost = true;
      fresh.connection.stream.destroy();
      throw error;
    }
    current = { client: fresh, drop };
    if (closed) await end(fresh);
    else if (lost) reconnect(FIRST_DELAY_MS);
    else probe(current);
  }

  function probe(connected: Connected): void {
    timer = clock.schedule(PROBE_EVERY_MS, () => {
      ask("select 1").then(() => {
        if (current === connected && !closed) probe(connected);
      }, connected.drop);
    });
  }

  function reconnect(delay: number): void {
    current = undefined;
    timer?.cancel();
    timer = clock.schedule(delay, () => {
      connect().then(
        () => {
          if (!closed) onReconnected();
        },
        () => {
          if (!closed) reconnect(Math.min(delay * 2, LONGEST_DELAY_MS));
        },
      );
    });
  }

  function ask<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    const answer = lastAsked.then(async () => {
      if (!current) throw new StoreOutage(new Error("not connected"));
      const { client, drop } = current;
      try {
        return await client.query<Row>(statement);
      } catch (error) {
        if (isConnectionInDoubt(error)) drop();
        throw error;
      }
    });
    lastAsked = answer.catch(() => {});
    return answer;
  }

  await connect();
  return {
    async send(payload) {
      await ask({ name: "notify", text: "select pg_notify($1, $2)", values: [channel, payload] });
    },
    query: ask,
    async close() {
      closed = true;
      timer?.cancel();
      if (current) await end(current.client);
    },
  };
}

/** Says goodbye, but does not wait for a server that is away. */
async function end(client: pg.Client): Promise<void> {
  if (!(await within(CLOSE_MS, client.end()))) client.connection.stream.destroy();
}
