import { createThreadLog, type ThreadLogOptions } from "../log/create-thread-log.js";
import type { ThreadLog } from "../log/thread-log.js";
import { openPostgres } from "../postgres/database.js";
import { createPostgresLogStore } from "../postgres/log/log-store.js";

export interface TrialStore {
  readonly databaseUrl: string;
}

export interface TrialLog {
  readonly log: ThreadLog;
  close(): Promise<void>;
}

/** Longer than a database takes to be started again and to recover on a busy machine. */
const PATIENCE_MS = 60_000;
/** What a killed writer committed last, and could not wake anybody for, is seen with the next of these. */
const POLL_EVERY_MS = 250;

/** The same in the writer that is killed and in the test that reads after it. */
export async function openTrialLog(
  { databaseUrl }: TrialStore,
  options: Pick<ThreadLogOptions<never>, "patienceMs" | "drainMs"> = { patienceMs: PATIENCE_MS },
): Promise<TrialLog> {
  const database = await openPostgres({ connection: databaseUrl, maxConnections: 4 });
  const log = createThreadLog({
    store: createPostgresLogStore(database),
    pollEveryMs: POLL_EVERY_MS,
    ...options,
  });
  return {
    log,
    async close() {
      await log.close();
      await database.close();
    },
  };
}
