import type pg from "pg";
import type { Cron, CronTick } from "./cron.js";
import { keyOf, timeOf } from "./cron-rows.js";
import { KEPT_TICKS } from "./cron-store.js";

export interface CronWrites {
  insertCron(client: pg.PoolClient, cron: Cron): Promise<void>;
  updateCron(client: pg.PoolClient, cron: Cron): Promise<void>;
  /** `false` when the tick was there already. Deletes the ticks that are too old to be kept. */
  insertTick(client: pg.PoolClient, tick: CronTick, leaseMs: number): Promise<boolean>;
}

/** The statements that write crons and ticks. `crons` and `cronTicks` name the tables. */
export function cronWrites({
  crons,
  cronTicks,
}: {
  readonly crons: string;
  readonly cronTicks: string;
}): CronWrites {
  async function insertCron(client: pg.PoolClient, cron: Cron): Promise<void> {
    await client.query(
      `insert into ${crons} (account, subject, cron_id, virtual_key_id, definition, enabled, anchor_at, next_at, due_at,
         created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...keyOf(cron, cron.id),
        cron.virtualKeyId,
        JSON.stringify(cron.definition),
        cron.definition.enabled,
        timeOf(cron.anchorAt),
        timeOf(cron.nextAt),
        timeOf(cron.dueAt),
        timeOf(cron.createdAt),
        timeOf(cron.updatedAt),
      ],
    );
  }

  async function updateCron(client: pg.PoolClient, cron: Cron): Promise<void> {
    await client.query(
      `update ${crons} set virtual_key_id = $2, definition = $3, enabled = $4, anchor_at = $5, next_at = $6, due_at = $7,
         updated_at = $8 where cron_id = $1`,
      [
        cron.id,
        cron.virtualKeyId,
        JSON.stringify(cron.definition),
        cron.definition.enabled,
        timeOf(cron.anchorAt),
        timeOf(cron.nextAt),
        timeOf(cron.dueAt),
        timeOf(cron.updatedAt),
      ],
    );
  }

  async function insertTick(client: pg.PoolClient, tick: CronTick, leaseMs: number): Promise<boolean> {
    const retryAt = tick.outcome.kind === "pending" ? tick.claimedAt + leaseMs : undefined;
    const { rowCount } = await client.query(
      `insert into ${cronTicks} (cron_id, tick_id, scheduled_at, claimed_at, agent, thread_name, missed, attempt, retry_at,
         outcome)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
      [
        tick.cronId,
        tick.id,
        timeOf(tick.scheduledAt),
        timeOf(tick.claimedAt),
        tick.agent,
        tick.threadName,
        tick.missed,
        tick.attempt,
        timeOf(retryAt),
        JSON.stringify(tick.outcome),
      ],
    );
    await client.query(
      `delete from ${cronTicks} where cron_id = $1 and retry_at is null and (claimed_at, tick_id) <= (
         select claimed_at, tick_id from ${cronTicks} where cron_id = $1
         order by claimed_at desc, tick_id desc offset $2 limit 1)`,
      [tick.cronId, KEPT_TICKS],
    );
    return rowCount === 1;
  }

  return { insertCron, updateCron, insertTick };
}
