import { type Fence, ThroughlineError } from "@throughline/ai-core";
import type { PostgresDatabase } from "./open-postgres.js";

interface Waiter {
  readonly fence: Fence;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * R17: whether a run still holds its thread, asked before every checkpoint of every run. Asked at once if no question is
 * under way, else together with all that come meanwhile, so many runs that write at once cost a statement and not one each.
 * An answer is never older than its question.
 */
export function createHeldCheck({ pool, schema }: PostgresDatabase): (fence: Fence) => Promise<void> {
  let waiting: Waiter[] = [];
  let isAsking = false;

  async function ask(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      await answer(asked);
    }
    isAsking = false;
  }

  async function answer(asked: readonly Waiter[]): Promise<void> {
    try {
      const { rows } = await pool.query<{ run_id: string; fence: string }>({
        name: `${schema}_assert_held`,
        text: `select r.run_id, r.fence from unnest($1::text[], $2::bigint[]) as f (run_id, fence)
          join ${schema}.runs r on r.run_id = f.run_id and r.fence = f.fence and r.status = 'running'
          join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
            and t.fence = r.fence`,
        values: [asked.map(({ fence }) => fence.runId), asked.map(({ fence }) => fence.token.toString())],
      });
      const held = new Set(rows.map((row) => `${row.run_id} ${row.fence}`));
      for (const { fence, resolve, reject } of asked) {
        if (held.has(`${fence.runId} ${fence.token}`)) resolve();
        else reject(new ThroughlineError("conflict", "Another instance drives this run by now."));
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  return (fence) =>
    new Promise((resolve, reject) => {
      waiting.push({ fence, resolve, reject });
      if (!isAsking) void ask();
    });
}
