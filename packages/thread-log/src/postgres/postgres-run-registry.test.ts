import pg from "pg";
import type { RegistryInstance } from "../conformance/registry-scene.js";
import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { openTestDatabase } from "../testing/test-database.js";
import { openPostgres, type PostgresDatabase } from "./open-postgres.js";
import { createPostgresLeaseKeeper } from "./postgres-lease-keeper.js";
import { createPostgresLogStore } from "./postgres-log-store.js";
import { createPostgresRunRegistry } from "./postgres-run-registry.js";

runRegistryConformance("The PostgreSQL registry", async () => {
  const { url, close } = await openTestDatabase();
  const clock = new pg.Client({ connectionString: url });
  await clock.connect();
  const databases = new Map<RegistryInstance, PostgresDatabase>();
  return {
    async openInstance() {
      const database = await openPostgres({ connection: url, maxConnections: 4 });
      const instance = {
        registry: createPostgresRunRegistry(database),
        store: createPostgresLogStore(database),
      };
      databases.set(instance, database);
      return instance;
    },
    async openKeeper(instance, options) {
      const database = databases.get(instance);
      if (!database) throw new Error("not an instance of this fixture");
      return createPostgresLeaseKeeper({ database, ...options });
    },
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
});
