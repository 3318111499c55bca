import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase, threadKey } from "@throughline/thread-log";
import pg from "pg";
import type { ServiceStore } from "../server/open-stores.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { openTestPostgres } from "./test-postgres.js";

/** A database for several instances, whose snapshots can be made unreadable, as those of another fold version are. */
export interface SpoilableStore {
  readonly store: ServiceStore;
  spoilSnapshots(thread: ThreadAddress): Promise<void>;
  close(): Promise<void>;
}

const OTHER_VERSION = 1_000;

export async function openSpoilableMemory(): Promise<SpoilableStore> {
  const database = createMemoryDatabase();
  return {
    store: { kind: "memory", shared: { database, checkpointer: createMemoryCheckpointer() } },
    async spoilSnapshots({ ref }) {
      const row = database.threads.get(threadKey(ref));
      if (!row) return;
      const all = [...row.snapshots.values()].flat();
      row.snapshots = new Map([
        [OTHER_VERSION, all.map((snapshot) => ({ ...snapshot, foldVersion: OTHER_VERSION }))],
      ]);
    },
    async close() {},
  };
}

export async function openSpoilablePostgres(): Promise<SpoilableStore> {
  const database = await openTestPostgres();
  return {
    store: { kind: "postgres", databaseUrl: database.url },
    async spoilSnapshots({ ref }) {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(
        `update throughline.snapshots s set fold_version = $2 from throughline.threads t
         where t.log_id = s.log_id and t.thread_id = $1`,
        [ref.threadId, OTHER_VERSION],
      );
      await client.end();
    },
    close: database.close,
  };
}
