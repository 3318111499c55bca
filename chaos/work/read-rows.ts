import type { RunHistory, ThreadHistory } from "../check/history.js";
import type { ChaosStage } from "../stage/chaos-stage.js";
import type { RoomHistory } from "./room.js";

interface RunRow extends RunHistory {
  readonly account: string;
  readonly thread: string;
}

/** Adds what the tables say: which runs there are, and how many entries. */
export async function readRows(
  { administer }: Pick<ChaosStage, "administer">,
  rooms: readonly RoomHistory[],
): Promise<readonly ThreadHistory[]> {
  const [runs, counts] = await administer(async (client) => {
    const { rows } = await client.query<RunRow>(
      `select run_id as "runId", alias, status, account, account || '/' || subject || '/' || thread_id as thread
       from throughline.runs order by arrival`,
    );
    const counted = await client.query<{ thread: string; stored: number }>(
      `select account || '/' || subject || '/' || thread_id as thread, count(entries.seq)::integer as stored
       from throughline.threads join throughline.entries using (log_id) group by 1`,
    );
    return [rows, new Map(counted.rows.map(({ thread, stored }) => [thread, stored]))] as const;
  });
  return rooms.map((room) => {
    const aliases = new Set(room.sent.map(({ runId }) => runId));
    const thread = runs.find((run) => run.account === room.account && aliases.has(run.alias ?? ""))?.thread;
    return {
      ...room,
      runs: thread === undefined ? [] : runs.filter((run) => run.thread === thread),
      stored: (thread !== undefined && counts.get(thread)) || 0,
    };
  });
}
