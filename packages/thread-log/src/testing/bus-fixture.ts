import type { LogStoreFixture } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { BusState, LogStore } from "../log/log-store.js";

import type { ThreadLog } from "../log/thread-log.js";
import { openPostgres, type PostgresDatabase } from "../postgres/database.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { type BusTraffic, openRedisBus, type RedisBus } from "../redis/bus.js";
import { openTestDatabase } from "./test-database.js";
import { trackCalls } from "./track-calls.js";

/** One instance: its log, and what its bus has told. */
export interface BusInstance {
  readonly log: ThreadLog;
  readonly bus: RedisBus;
  readonly database: PostgresDatabase;
  readonly states: readonly BusState["kind"][];
  readonly traffic: Readonly<Record<BusTraffic, number>>;
}

export interface BusFixture extends LogStoreFixture {
  readonly databaseUrl: string;
  /** On the same database. Polls so rarely that only what it is told of makes it read. */
  openInstance(redisUrl: string): Promise<BusInstance>;
  closeInstances(): Promise<void>;
}

/** A database of its own on the shared PostgreSQL, for instances with a bus. `redisUrl`: of the stores. */
export async function openBusFixture(redisUrl?: string): Promise<BusFixture> {
  const { url, close } = await openTestDatabase();
  const closers = new Map<object, () => Promise<void>>();

  async function open(redis: string) {
    const states: BusState["kind"][] = [];
    const traffic = { published: 0, received: 0, undelivered: 0 };
    const database = await openPostgres({ connection: url, maxConnections: 3 });
    const bus = await openRedisBus({
      url: redis,
      database,
      onState: ({ kind }) => states.push(kind),
      onTraffic: (kind) => {
        traffic[kind] += 1;
      },
    });
    return { database, bus, states, traffic };
  }

  async function closeInstances(): Promise<void> {
    const closing = [...closers.values()];
    closers.clear();
    await Promise.all(closing.map((closeOne) => closeOne()));
  }

  return {
    databaseUrl: url,
    async openInstance(redis) {
      const parts = await open(redis);
      const { database, bus } = parts;
      const log = createThreadLog({
        store: createPostgresLogStore(database, { bus }),
        pollEveryMs: 3_600_000,
      });
      const instance = { ...parts, log };
      closers.set(instance, async () => {
        await log.close();
        bus.close();
        await database.close();
      });
      return instance;
    },
    closeInstances,
    async openStore() {
      const { database, bus } = await open(redisUrl ?? "");
      const { tracked, settled } = trackCalls(createPostgresLogStore(database, { bus }));
      closers.set(tracked, async () => {
        await settled();
        bus.close();
        await database.close();
      });
      return tracked;
    },
    async closeStore(store: LogStore) {
      await closers.get(store)?.();
      closers.delete(store);
    },
    async close() {
      await closeInstances();
      await close();
    },
  };
}
