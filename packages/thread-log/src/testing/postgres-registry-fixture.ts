import type { RegistryFixture, RegistryInstance } from "../conformance/registry-scene.js";
import { inTransaction } from "../postgres/connection/transaction.js";
import { openPostgres, type PostgresDatabase } from "../postgres/database.js";
import { closeScope, openScope } from "../postgres/delete.js";
import { createPostgresThreadDirectory } from "../postgres/directory.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { createPostgresLeaseKeeper } from "../postgres/registry/heartbeat.js";
import { createPostgresRunRegistry } from "../postgres/registry/run-registry.js";
import { openTestDatabase, type TestDatabase } from "./test-database.js";
import { openTestPool } from "./test-pool.js";

export interface RegistryFixtureOptions {
  /** Default: on the embedded server. `direct`: the server itself, where `url` is a pooler. */
  readonly openDatabase?: () => Promise<TestDatabase & { readonly direct?: string }>;
}

/** A registry on a database of its own. */
export async function openPostgresRegistryFixture({
  openDatabase = openTestDatabase,
}: RegistryFixtureOptions = {}): Promise<RegistryFixture> {
  const { url, direct, close } = await openDatabase();
  const clock = openTestPool(url, 1);
  const databases = new Map<RegistryInstance, PostgresDatabase>();
  return {
    async openInstance() {
      const database = await openPostgres({ connection: url, direct, maxConnections: 4 });
      const instance = {
        registry: createPostgresRunRegistry(database),
        store: createPostgresLogStore(database),
        directory: createPostgresThreadDirectory(database),
      };
      databases.set(instance, database);
      return instance;
    },
    async openKeeper(instance, options) {
      const database = databases.get(instance);
      if (!database) throw new Error("not an instance of this fixture");
      return createPostgresLeaseKeeper({ database, ...options });
    },
    closeScope: (id, scope) => inTransaction(clock, (client) => closeScope(client, "throughline", id, scope)),
    openScope: (id) => inTransaction(clock, (client) => openScope(client, "throughline", id)),
    // The database's clock cannot be moved, but what it is compared with can.
    async pass(ms) {
      const by = `${ms} * interval '1 millisecond'`;
      await clock.query(`update throughline.runs set lease_until = lease_until - ${by}`);
      await clock.query(`update throughline.stops set expires_at = expires_at - ${by}`);
      await clock.query(`update throughline.runs set ended_at = ended_at - ${by}`);
    },
    async stops() {
      const { rowCount } = await clock.query("select 1 from throughline.stops");
      return rowCount ?? 0;
    },
    async close() {
      await Promise.all([...databases.values()].map((database) => database.close()));
      await clock.end();
      await close();
    },
  };
}
