import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itNeeds } from "../../../embedded-postgres/src/testing/it-needs.js";
import { fenceOf, newThread, notes, readAll, write } from "../conformance/log-scene.js";
import { runLogConformance } from "../conformance/run-log-conformance.js";
import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { LogStore } from "../log/log-store.js";
import { openPostgres, type PostgresDatabase } from "../postgres/database.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { findMissingPgbouncer, launchPgbouncer, type Pgbouncer } from "./launch-pgbouncer.js";
import { openPostgresRegistryFixture } from "./postgres-registry-fixture.js";
import { openTestDatabase, type TestDatabase } from "./test-database.js";

/** A database of its own, reached through a pooler. */
async function openPooledDatabase() {
  const database = await openTestDatabase();
  const pooler = await launchPgbouncer(database.url);
  return {
    url: pooler.url,
    direct: database.url,
    async close() {
      await pooler.stop();
      await database.close();
    },
  };
}

const missing = await findMissingPgbouncer();
if (missing === undefined) {
  runLogConformance("The PostgreSQL store behind a pooler in transaction mode", async () => {
    const { url, direct, close } = await openPooledDatabase();
    const open = new Map<LogStore, PostgresDatabase>();
    return {
      async openStore() {
        const database = await openPostgres({ connection: url, direct, maxConnections: 4 });
        const store = createPostgresLogStore(database);
        open.set(store, database);
        return store;
      },
      async closeStore(store) {
        await open.get(store)?.close();
        open.delete(store);
      },
      close,
    };
  });
  runRegistryConformance("The PostgreSQL registry behind a pooler in transaction mode", () =>
    openPostgresRegistryFixture({ openDatabase: openPooledDatabase }),
  );

  describe("A pooler in transaction mode", () => {
    let server: TestDatabase;
    let pooler: Pgbouncer;
    beforeAll(async () => {
      server = await openTestDatabase();
      pooler = await launchPgbouncer(server.url);
    });
    afterAll(async () => {
      await pooler?.stop();
      await server?.close();
    });

    it("is noticed where the server's own address is not given", async () => {
      await expect(openPostgres({ connection: pooler.url })).rejects.toThrow("LANGGRAPH_DATABASE_DIRECT_URL");
      const database = await openPostgres({ connection: server.url });
      await database.close();
    });

    it("gets no settings that outlive a transaction", async () => {
      const database = await openPostgres({ connection: pooler.url, direct: server.url });
      const log = createThreadLog({ store: createPostgresLogStore(database) });
      const threads = Array.from({ length: 20 }, () => newThread());
      await Promise.all(threads.map((thread) => write(log, thread, ["a", "b"])));
      const settings = await Promise.all(
        Array.from({ length: 20 }, () =>
          database.pool.query(
            "select current_setting('statement_timeout') || current_setting('lock_timeout') as set, pg_sleep(0.01)",
          ),
        ),
      );
      expect(new Set(settings.map(({ rows }) => rows[0].set))).toEqual(new Set(["00"]));
      await log.close();
      await database.close();
    });

    it("lets a locked thread delay itself only", async () => {
      const database = await openPostgres({ connection: pooler.url, direct: server.url });
      const log = createThreadLog({ store: createPostgresLogStore(database) });
      const [held, free] = [newThread(), newThread()];
      for (const thread of [held, free]) await write(log, thread, ["a"]);
      const elsewhere = new pg.Client({ connectionString: server.url });
      await elsewhere.connect();
      await elsewhere.query("begin");
      await elsewhere.query("select 1 from throughline.threads where thread_id = $1 for update", [
        held.threadId,
      ]);
      const waiting = log.append(held, notes(held, "b"), fenceOf(held, 1));
      await log.append(free, notes(free, "b"), fenceOf(free, 1));
      await elsewhere.query("commit");
      await waiting;
      await elsewhere.end();
      for (const thread of [held, free]) expect(await readAll(log, thread)).toEqual(["a", "b"]);
      await log.close();
      await database.close();
    });
  });
} else itNeeds(missing)("The PostgreSQL store and registry run behind a pooler", () => {});
