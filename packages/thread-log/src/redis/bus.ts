import { randomBytes } from "node:crypto";
import { type Clock, systemClock, type Timer } from "@throughline/ai-core";
import type { BusState, EntryBus, Wake } from "../log/log-store.js";
import { databaseId, type PostgresDatabase } from "../postgres/database.js";
import { threadTag } from "../thread-ref.js";
import { createOutbox, maintainRedisLink } from "./connection.js";
import { inTime } from "./in-time.js";
import { decodeBusMessage, encodeBusMessage, INSTANCE_LENGTH } from "./message.js";
import { createRedisNodes, probeServer, type RedisClient } from "./nodes.js";

/** Direction of a message. `undelivered`: it could not be sent, so the database notifies instead. */
export type BusTraffic = "published" | "received" | "undelivered";

export interface RedisBusOptions {
  /** One URL, or several with commas between: nodes of a cluster, or a primary and its replicas. */
  readonly url: string;
  /** The database whose entries the bus carries; it notifies of them itself while Redis is away. */
  readonly database: PostgresDatabase;
  readonly clock?: Clock;
  /** How long a `command` may take. Default 100. */
  readonly commandMs?: number;
  /** Called at each change, and once at the beginning. */
  readonly onState?: (state: BusState) => void;
  /** Called for each message. */
  readonly onTraffic?: (traffic: BusTraffic) => void;
}

export interface RedisBus extends EntryBus {
  /** Prefix of every key of this database: several services may share a Redis. */
  readonly keyPrefix: string;
  /**
   * Sends a command on one key. `undefined` when Redis is away or does not respond at once: then none is sent for a second, so
   * that only the first of many requests waits.
   */
  command(key: string, command: readonly string[]): Promise<unknown>;
  isConnected(): boolean;
  close(): void;
}

/** How long a start waits for Redis before it goes on without. */
const FIRST_CONNECT_MS = 1_000;
const POLL_WHILE_AWAY_MS = 1_000;
const COMMAND_MS = 100;
const REST_MS = 1_000;

/** R22: Redis as a bus. Never fails for want of Redis: it is waited for in the background. */
export async function openRedisBus(options: RedisBusOptions): Promise<RedisBus> {
  const { database, clock = systemClock, onState = () => {}, onTraffic = () => {} } = options;
  const { commandMs = COMMAND_MS } = options;
  const keyPrefix = `throughline:${database.schema}:${await databaseId(database)}`;
  const channel = `${keyPrefix}:entries`;
  const instance = randomBytes((INSTANCE_LENGTH * 3) / 4).toString("base64url");
  const nodes = createRedisNodes(options.url);
  const listeners = new Set<(wake: Wake) => void>();
  let state: BusState["kind"] | undefined;
  let restsUntil = 0;
  let closed = false;
  let onFirstState = () => {};

  const emit = (wake: Wake) => {
    for (const listener of listeners) listener(wake);
  };

  /** Has the log read while nothing is received: at once, because commits may have been missed, and then at intervals. */
  const poll = createPoll(clock, POLL_WHILE_AWAY_MS, () => emit({ kind: "all" }));

  function isConnected(): boolean {
    return publisher.client() !== undefined && subscriber.client() !== undefined;
  }

  function receive(payload: Buffer): void {
    const message = decodeBusMessage(instance, payload);
    if (message.kind === "own") return;
    onTraffic("received");
    if (message.kind === "unreadable") emit({ kind: "all" });
    else for (const commit of message.commits) emit(commit);
  }

  function reportUp(): void {
    if (!isConnected() || state === "connected") return;
    state = "connected";
    onFirstState();
    onState({ kind: "connected" });
  }

  function reportDown(reason: unknown): void {
    if (closed || state === "away") return;
    state = "away";
    onState({ kind: "away", reason });
  }

  const parts = {
    clock,
    probe: probeServer,
    destroy(client: RedisClient) {
      if (client.isOpen) client.destroy();
    },
  };
  const publisher = maintainRedisLink<RedisClient>({
    ...parts,
    create: nodes.inTurn(),
    introduce: nodes.connect,
    onUp: reportUp,
    onDown: reportDown,
  });
  const subscriber = maintainRedisLink<RedisClient>({
    ...parts,
    create: nodes.inTurn(),
    async introduce(client) {
      await nodes.connect(client);
      await client.subscribe(channel, receive, true);
    },
    onUp() {
      poll.stop();
      // Entries published while nothing was received are in the log.
      emit({ kind: "all" });
      reportUp();
    },
    onDown(reason) {
      poll.start();
      reportDown(reason);
    },
  });
  const outbox = createOutbox({
    clock,
    async post(message) {
      await publisher.client()?.publish(channel, message);
    },
    onStalled() {
      const client = publisher.client();
      if (client) publisher.drop(client, new Error("Redis takes no messages."));
    },
  });

  await inTime(
    clock,
    FIRST_CONNECT_MS,
    new Promise<void>((resolve) => {
      onFirstState = resolve;
      if (isConnected()) resolve();
    }),
  ).catch(() => reportDown(new Error("Redis can't be reached: check REDIS_URL, and that it runs.")));

  return {
    keyPrefix,
    publish(commits) {
      if (commits.length === 0) return;
      const notifyByDatabase = () => {
        onTraffic("undelivered");
        database.notifyOthers(commits.map(({ thread }) => threadTag(thread)));
      };
      if (publisher.client() === undefined) return notifyByDatabase();
      onTraffic("published");
      outbox.send(encodeBusMessage(instance, commits), notifyByDatabase);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async command(key, command) {
      const client = publisher.client();
      if (client === undefined || clock.now() < restsUntil) return undefined;
      try {
        return await inTime(clock, commandMs, nodes.send(client, key, command));
      } catch (error) {
        restsUntil = clock.now() + REST_MS;
        if (error instanceof Error && error.message.startsWith("READONLY")) publisher.drop(client, error);
        return undefined;
      }
    },
    isConnected,
    close() {
      closed = true;
      poll.stop();
      listeners.clear();
      publisher.close();
      subscriber.close();
      nodes.close();
    },
  };
}

export interface Poll {
  /** Polls at once and then at intervals. Does nothing while it polls already, so that it may be called at every failure. */
  start(): void;
  stop(): void;
}

export function createPoll(clock: Clock, everyMs: number, poll: () => void): Poll {
  let next: Timer | undefined;

  function pollNow(): void {
    next = clock.schedule(everyMs, pollNow);
    poll();
  }

  return {
    start() {
      if (next === undefined) pollNow();
    },
    stop() {
      next?.cancel();
      next = undefined;
    },
  };
}
