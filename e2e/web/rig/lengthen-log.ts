import { type Envelope, systemClock } from "@throughline/ai-core";
import { threadAddress } from "@throughline/langgraph-server";
import { threadProjectionCodec } from "@throughline/reading";
import { createPostgresLogStore, createThreadLog, openPostgres } from "@throughline/thread-log";

const BATCH = 5_000;
/** Above any lease's of a test. */
const TOKEN = 1_000_000n;

interface Lengthened {
  readonly account: string;
  readonly agent: string;
  readonly threadId: string;
  /** What the log has in the end. */
  readonly entries: number;
}

/** Writes to a thread's log, by the real store, as a very talkative graph would have. */
export async function lengthenLog(
  databaseUrl: string,
  { account, agent, threadId, entries }: Lengthened,
): Promise<void> {
  const database = await openPostgres({ connection: databaseUrl, clock: systemClock });
  const log = createThreadLog({
    store: createPostgresLogStore(database),
    clock: systemClock,
    fold: threadProjectionCodec,
  });
  try {
    const { ref } = threadAddress({ billingAccountId: account }, agent, threadId);
    const beginning = await log.read(ref, undefined, 1);
    const first = beginning.kind === "entries" ? beginning.entries[0]?.envelope : undefined;
    const head = await log.head(ref);
    if (!first || !head) throw new Error(`${agent}/${threadId} has no log yet.`);
    const fence = { threadId: ref.threadId, runId: first.run_id, token: TOKEN };
    await log.open(ref, fence);
    for (let at = head.seq; at < entries; at += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, entries - at) }, (_, index): Envelope => {
        const payload = { name: "progress", value: { line: at + index } };
        return { ...first, type: "custom", seq: at + index, payload };
      });
      const appended = await log.append(ref, batch, fence);
      if (!appended.ok) throw new Error(`The log refused: ${appended.reason}.`);
    }
  } finally {
    await log.close();
    await database.close();
  }
}
