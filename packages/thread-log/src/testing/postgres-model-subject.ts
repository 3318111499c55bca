import pg from "pg";
import { attempt, type Outcome } from "../conformance/model/operation.js";
import { readDatabase } from "../conformance/model/read-database.js";
import type { ModelSubject } from "../conformance/model/run-store-model.js";
import { createStatementGate, overPools, poolsOf } from "../conformance/model/statement-gate.js";
import { inTransaction } from "../postgres/connection/transaction.js";
import { openPostgres } from "../postgres/database.js";
import { closeScope, openScope } from "../postgres/delete.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";
import { createPostgresRunRegistry } from "../postgres/registry/run-registry.js";
import { openTestDatabase } from "./test-database.js";

export interface PostgresModelSubject extends ModelSubject {
  /** For tests that change it behind the model's back. */
  readonly observer: pg.Client;
  close(): Promise<void>;
}

const INSTANCES = 3;
const SCHEMA = "throughline";
/** Entries hang on threads by a number that is never used again: without their thread they are nowhere. */
export const CLEAR = ["runs", "interrupts", "stops", "closures", "thread_listings", "snapshots", "threads"]
  .map((table) => `delete from ${SCHEMA}.${table}`)
  .join("; ");

/** For connections to come. The only deadlocks are those that a case makes, and none ends with a power failure. */
export const WITHOUT_WAITING = `do $$ begin
  execute format('alter database %I set deadlock_timeout = 20', current_database());
  execute format('alter database %I set synchronous_commit = off', current_database());
end $$`;

/** Three instances on a database of their own. Every statement of theirs is a step of the scheduler's. */
export async function openPostgresModelSubject(): Promise<PostgresModelSubject> {
  const fixture = await openTestDatabase();
  const observer = new pg.Client({ connectionString: fixture.url });
  await observer.connect();
  await observer.query(WITHOUT_WAITING);
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, () => openPostgres({ connection: fixture.url, maxConnections: 3 })),
  );
  const gate = createStatementGate(observer, instances.flatMap(poolsOf));
  return {
    observer,
    clear: async () => void (await observer.query(CLEAR)),
    read: () => readDatabase(observer),
    async perform(scheduler, tasks) {
      const outcomes: Outcome[] = [];
      await gate.run(
        scheduler,
        tasks.map(({ instance, loss, perform }, index) => ({
          loss,
          async work(over) {
            const opened = instances[instance % INSTANCES];
            if (!opened) throw new Error("no such instance");
            const database = overPools(opened, over);
            outcomes[index] = await attempt(() =>
              perform({
                store: createPostgresLogStore(database),
                registry: createPostgresRunRegistry(database),
                closeScope: (id, scope) =>
                  inTransaction(database.pool, (client) => closeScope(client, SCHEMA, id, scope)),
                openScope: (id) => inTransaction(database.pool, (client) => openScope(client, SCHEMA, id)),
                pass: async (ms) => void (await observer.query(passed(ms))),
              }),
            );
          },
        })),
      );
      return outcomes;
    },
    async close() {
      await observer.end();
      await Promise.all(instances.map((instance) => instance.close()));
      await fixture.close();
    },
  };
}

/** The database's clock can't be moved, but what it is compared with can. */
function passed(ms: number): string {
  const by = `${ms} * interval '1 millisecond'`;
  return `update ${SCHEMA}.runs set lease_until = lease_until - ${by}, ended_at = ended_at - ${by};
    update ${SCHEMA}.stops set expires_at = expires_at - ${by}`;
}
