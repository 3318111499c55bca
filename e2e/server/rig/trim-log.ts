import { systemClock } from "@throughline/ai-core";
import { threadAddress } from "@throughline/langgraph-server";
import { threadProjectionCodec } from "@throughline/reading";
import { createPostgresLogStore, createThreadLog, openPostgres } from "@throughline/thread-log";

/** Trims a thread's log to its last entries, as retention does: terminal entries and a snapshot stay. */
export async function trimLog(
  databaseUrl: string,
  { agent, threadId, keep }: { readonly agent: string; readonly threadId: string; readonly keep: number },
): Promise<number> {
  const database = await openPostgres({ connection: databaseUrl, clock: systemClock });
  const log = createThreadLog({
    store: createPostgresLogStore(database),
    clock: systemClock,
    fold: threadProjectionCodec,
  });
  try {
    const { ref } = threadAddress({ billingAccountId: "dev" }, agent, threadId);
    return (await log.trim(ref, { maxEntries: keep })).dropped;
  } finally {
    await log.close();
    await database.close();
  }
}
