import type { LogStoreFixture } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { BusState, BusTraffic, EntryBus } from "../port/entry-bus.js";
import type { LogStore } from "../port/log-store.js";
import type { ThreadLog } from "../port/thread-log.js";
import { openPostgres, type PostgresDatabase } from "../postgres/open-postgres.js";
import { createPostgresLogStore } from "../postgres/postgres-log-store.js";
import { openTestDatabase } from "./test-database.js";
import { trackCalls } from "./track-calls.js";

/** What a bus tells of itself. */
export interface BusEvents {
  readonly onState: (state: BusState) => void;
  readonly onTraffic: (traffic: BusTraffic) => void;
}

export interface OpenBus extends EntryBus {
  close(): void | Promise<void>;
}

/** `address`: of the Redis, or whatever the bus is told apart by. */
export type BusOpener<Bus extends OpenBus> = (
  database: PostgresDatabase,
  events: BusEvents,
  address: string,
) => Promise<Bus>;

/** One instance: its log, and what its bus has told. */
export interface BusInstance<Bus extends OpenBus = OpenBus> {
  readonly log: ThreadLog;
  readonly bus: Bus;
  readonly database: PostgresDatabase;
  readonly states: readonly BusState["kind"][];
  readonly traffic: Readonly<Record<BusTraffic, number>>;
}

export interface BusFixture<Bus extends OpenBus> extends LogStoreFixture {
  readonly databaseUrl: string;
  /** On the same database. Polls so rarely that only what it is told of makes it read. */
  openInstance(address?: string): Promise<BusInstance<Bus>>;
  /** One that ends before the others do. */
  closeInstance(instance: BusInstance<Bus>): Promise<void>;
  closeInstances(): Promise<void>;
}

/** A database of its own on the shared PostgreSQL, for instances with a bus. `storesAt`: the address of the stores' bus. */
export async function openBusFixture<Bus extends OpenBus>(
  openBus: BusOpener<Bus>,
  storesAt = "",
): Promise<BusFixture<Bus>> {
  const { url, close } = await openTestDatabase();
  const closers = new Map<object, () => Promise<void>>();

  async function open(address: string) {
    const states: BusState["kind"][] = [];
    const traffic = { published: 0, received: 0, undelivered: 0 };
    const database = await openPostgres({ connection: url, maxConnections: 3 });
    const events: BusEvents = {
      onState: ({ kind }) => states.push(kind),
      onTraffic(kind) {
        traffic[kind] += 1;
      },
    };
    const bus = await openBus(database, events, address);
    return { database, bus, states, traffic };
  }

  async function closeOne(one: object): Promise<void> {
    const closing = closers.get(one);
    closers.delete(one);
    await closing?.();
  }

  async function closeInstances(): Promise<void> {
    await Promise.all([...closers.keys()].map(closeOne));
  }

  return {
    databaseUrl: url,
    async openInstance(address = storesAt) {
      const parts = await open(address);
      const { database, bus } = parts;
      const log = createThreadLog({
        store: createPostgresLogStore(database, { bus }),
        pollEveryMs: 3_600_000,
      });
      const instance = { ...parts, log };
      closers.set(instance, async () => {
        await log.close();
        await bus.close();
        await database.close();
      });
      return instance;
    },
    closeInstance: closeOne,
    closeInstances,
    async openStore() {
      const { database, bus } = await open(storesAt);
      const { tracked, settled } = trackCalls(createPostgresLogStore(database, { bus }));
      closers.set(tracked, async () => {
        await settled();
        await bus.close();
        await database.close();
      });
      return tracked;
    },
    closeStore: (store: LogStore) => closeOne(store),
    async close() {
      await closeInstances();
      await close();
    },
  };
}
