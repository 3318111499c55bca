import { itNeeds } from "../../../embedded-postgres/src/testing/it-needs.js";
import { runLogConformance } from "../conformance/run-log-conformance.js";
import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import type { LogStore } from "../log/log-store.js";
import { openPostgres, type PostgresDatabase } from "../postgres/database.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { findMissingDebianPostgres, launchDebianPostgres } from "./launch-debian-postgres.js";
import { openPostgresRegistryFixture } from "./postgres-registry-fixture.js";

const missing = findMissingDebianPostgres();
if (missing === undefined) {
  runLogConformance("The PostgreSQL store on PostgreSQL 15", async () => {
    const server = await launchDebianPostgres();
    const open = new Map<LogStore, PostgresDatabase>();
    return {
      async openStore() {
        const database = await openPostgres({ connection: server.url, maxConnections: 4 });
        const store = createPostgresLogStore(database);
        open.set(store, database);
        return store;
      },
      async closeStore(store) {
        await open.get(store)?.close();
        open.delete(store);
      },
      close: () => server.stop(),
    };
  });
  runRegistryConformance("The PostgreSQL registry on PostgreSQL 15", () =>
    openPostgresRegistryFixture({
      async openDatabase() {
        const server = await launchDebianPostgres();
        return { url: server.url, close: () => server.stop() };
      },
    }),
  );
} else itNeeds(missing)("The PostgreSQL store and registry run on PostgreSQL 15", () => {});
