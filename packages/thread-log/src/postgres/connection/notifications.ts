import { type Clock, StoreOutage, type Timer } from "@throughline/ai-core";
import pg from "pg";
import type { WakeHint } from "../../log/log-store.js";
import { CONNECT_MS, isConnectionInDoubt, KEEP_ALIVE, within } from "./pool.js";

export interface NotificationListenerOptions {
  readonly connection: pg.ClientConfig;
  readonly channel: string;
  readonly clock: Clock;
  readonly statementMs: number;
  readonly onPayload: (payload: string) => void;
  /** After every connection but the first: notifications sent meanwhile are lost, so everything must be read again. */
  readonly onReconnected: () => void;
}

export interface NotificationListener {
  /** On the listener's own connection, which alone may be without a pooler. Fails where that is lost. */
  send(payload: string): Promise<void>;
  /** On the same connection, which after an outage is a new one. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
  close(): Promise<void>;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** A connection whose other end vanished silently is noticed after one of these and a statement's deadline. */
const PROBE_EVERY_MS = 10_000;
const CLOSE_MS = 1_000;

interface Connected {
  readonly client: pg.Client;
  /** Gives the connection up, and makes another. */
  readonly drop: () => void;
}

/**
 * The one LISTEN connection of an instance, however many subscribers it has. Resolves once it listens. It has one statement
 * at a time, because pg's own queue is deprecated; one that misses its deadline costs the connection.
 */
export async function listenForNotifications(
  options: NotificationListenerOptions,
): Promise<NotificationListener> {
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
      // A notification writes a commit record; waiting until that is on disk would save nothing that matters.
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

/** Closes a connection, but does not wait for a server that is away. */
async function end(client: pg.Client): Promise<void> {
  if (!(await within(CLOSE_MS, client.end()))) client.connection.stream.destroy();
}

export type Notification =
  | WakeHint
  | { readonly kind: "stop"; readonly runId: string }
  /** A run can be claimed. */
  | { readonly kind: "released" };

/** PostgreSQL refuses a payload of 8,000 bytes. */
const MAX_PAYLOAD = 7_999;
const INSTANCE_LENGTH = 8;
const TAG_LENGTH = 8;

/** `{instance}{kind}{body}`: an instance skips its own, which it has served from memory already. */
export function encodeNotification(instance: string, message: Notification): string {
  switch (message.kind) {
    case "all":
      return `${instance}a`;
    case "stop":
      return `${instance}s${message.runId}`;
    case "released":
      return `${instance}r`;
    case "threads": {
      const payload = `${instance}w${message.tags.join("")}`;
      return payload.length > MAX_PAYLOAD ? encodeNotification(instance, { kind: "all" }) : payload;
    }
  }
}

/** Decodes a payload; `undefined` for our own. An unknown one, as from a newer version, wakes all: a hint may name too many. */
export function decodeNotification(instance: string, payload: string): Notification | undefined {
  if (payload.startsWith(instance)) return undefined;
  const body = payload.slice(INSTANCE_LENGTH + 1);
  switch (payload[INSTANCE_LENGTH]) {
    case "w":
      return { kind: "threads", tags: body.match(new RegExp(`.{${TAG_LENGTH}}`, "g")) ?? [] };
    case "s":
      return { kind: "stop", runId: body };
    case "r":
      return { kind: "released" };
    default:
      return { kind: "all" };
  }
}

/** Notifies other instances of threads that changed, after the commit that changed them. */
export interface Notifier {
  notify(tags: readonly string[]): void;
  /** After the connection was lost: sends what could not be sent. */
  resume(): void;
}

export interface NotifierOptions {
  readonly send: (tags: readonly string[]) => Promise<void>;
  readonly clock: Clock;
  /** The least time from one notification to the next. */
  readonly everyMs: number;
}

/**
 * One notification at a time: what is committed while one is on its way, or within `everyMs` of the last, goes with the next. A
 * notification costs each instance that listens a read, so under load all of them would do little else. The first waits for the end of
 * the turn, so that the next commit is sent before it. Sent inside the commit it would
 * hold a lock of the whole cluster until the commit is on disk, so that all instances would write in turn.
 */
export function createNotifier({ send, clock, everyMs }: NotifierOptions): Notifier {
  let waiting = new Set<string>();
  let isSending = false;

  async function pump(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (waiting.size > 0) {
      const tags = waiting;
      waiting = new Set();
      const sentAt = clock.now();
      try {
        await send([...tags]);
      } catch {
        for (const tag of tags) waiting.add(tag);
        break;
      }
      // Not longer, where the clock was put back meanwhile.
      await pause(clock, Math.min(everyMs, sentAt + everyMs - clock.now()));
    }
    isSending = false;
  }

  return {
    notify(tags) {
      for (const tag of tags) waiting.add(tag);
      if (!isSending) setImmediate(() => void pump());
    },
    resume: () => void pump(),
  };
}

function pause(clock: Clock, ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => clock.schedule(ms, resolve));
}
