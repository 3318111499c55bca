import type { RigPostgres } from "../rig/start-postgres.js";
import { type RigServer, startServer } from "../rig/start-server.js";
import { DEADLY_WORKSHOP, openWorkshopBooks, type WorkshopBooks } from "./workshop-books.js";

export interface WorkshopPace {
  readonly tokenMs: number;
  readonly toolMs: number;
}

export interface DeadlyWorkshop {
  readonly server: RigServer;
  readonly books: WorkshopBooks;
  close(): Promise<void>;
}

/** A server that kills itself where a message says so, on a database of its own; one that took over a run notices soon. */
export async function startDeadlyWorkshop(
  postgres: RigPostgres,
  { tokenMs, toolMs }: WorkshopPace,
): Promise<DeadlyWorkshop> {
  const databaseUrl = await postgres.createDatabase();
  const books = openWorkshopBooks(databaseUrl);
  const server = await startServer({
    databaseUrl,
    graphs: DEADLY_WORKSHOP,
    leaseMs: 2_000,
    reapEveryMs: 200,
    env: {
      WORKSHOP_FOLDER: books.folder,
      WORKSHOP_TOOL_MS: String(toolMs),
      THROUGHLINE_OFFLINE_PACE_MS: String(tokenMs),
    },
  });
  return {
    server,
    books,
    async close() {
      await server.stop();
      await books.close();
    },
  };
}
