import { afterAll, beforeAll } from "vitest";
import { type RigPostgres, startPostgres } from "./start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "./start-server.js";

/** One server on a database of its own, up while the tests of the calling file run. */
export function serverForTests(options: Omit<RigServerOptions, "databaseUrl">): () => RigServer {
  let postgres: RigPostgres | undefined;
  let server: RigServer | undefined;
  beforeAll(async () => {
    postgres = await startPostgres();
    server = await startServer({ ...options, databaseUrl: await postgres.createDatabase() });
  });
  afterAll(async () => {
    await server?.stop();
    await postgres?.stop();
  });
  return () => {
    if (!server) throw new Error("The server is there in tests and hooks, not before them.");
    return server;
  };
}
