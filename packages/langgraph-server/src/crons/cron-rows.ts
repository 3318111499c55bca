import { subjectKey } from "@throughline/thread-log";
import type pg from "pg";
import { type Cron, type CronScope, type CronTick, tickOutcomeSchema } from "./cron.js";
import { cronDefinitionSchema } from "./cron-definition.js";
import { RETAINED_TICKS } from "./cron-store.js";

export interface CronRow {
  readonly account: string;
  readonly subject: string;
  readonly cron_id: string;
  readonly virtual_key_id: string;
  readonly definition: string;
  readonly anchor_at: Date;
  readonly next_at: Date | null;
  readonly due_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const CRON_COLUMNS = `c.account, c.subject, c.cron_id, c.virtual_key_id, c.definition, c.anchor_at, c.next_at, c.due_at,
  c.created_at, c.updated_at`;

/** Account, subject and id: what finds a row. */
export function keyOf(scope: CronScope, id: string): [string, string, string] {
  return [scope.account, subjectKey(scope), id];
}

/** Throws `UnreadableRow`. */
export function toCron(row: CronRow): Cron {
  try {
    return readCron(row);
  } catch (error) {
    throw new UnreadableRow({ table: "crons", cronId: row.cron_id }, error);
  }
}

function readCron(row: CronRow): Cron {
  return {
    account: row.account,
    ...(row.subject !== "" && { subject: row.subject }),
    id: row.cron_id,
    virtualKeyId: row.virtual_key_id,
    definition: cronDefinitionSchema.parse(JSON.parse(row.definition)),
    anchorAt: row.anchor_at.getTime(),
    nextAt: row.next_at?.getTime(),
    dueAt: row.due_at?.getTime(),
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}

export interface TickRow {
  readonly tick_id: string;
  readonly scheduled_at: Date;
  readonly claimed_at: Date;
  readonly agent: string;
  readonly thread_name: string;
  readonly missed: number;
  readonly attempt: number;
  readonly outcome: string;
}

export const TICK_COLUMNS =
  "t.tick_id, t.scheduled_at, t.claimed_at, t.agent, t.thread_name, t.missed, t.attempt, t.outcome";

/** Throws `UnreadableRow`. */
export function toTick(cronId: string, row: TickRow): CronTick {
  try {
    return readTick(cronId, row);
  } catch (error) {
    throw new UnreadableRow({ table: "cron_ticks", cronId, tickId: row.tick_id }, error);
  }
}

function readTick(cronId: string, row: TickRow): CronTick {
  return {
    cronId,
    id: row.tick_id,
    scheduledAt: row.scheduled_at.getTime(),
    claimedAt: row.claimed_at.getTime(),
    agent: row.agent,
    threadName: row.thread_name,
    missed: row.missed,
    attempt: row.attempt,
    outcome: tickOutcomeSchema.parse(JSON.parse(row.outcome)),
  };
}

/** A joined tick that is not there has nulls throughout. */
export function toLastTick(
  cronId: string,
  row: { [K in keyof TickRow]: TickRow[K] | null },
): CronTick | undefined {
  const { tick_id, scheduled_at, claimed_at, agent, thread_name, missed, attempt, outcome } = row;
  if (tick_id === null || !scheduled_at || !claimed_at || agent === null || thread_name === null)
    return undefined;
  if (missed === null || attempt === null || outcome === null) return undefined;
  return toTick(cronId, { tick_id, scheduled_at, claimed_at, agent, thread_name, missed, attempt, outcome });
}

export function timeOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

export interface CronWrites {
  insertCron(client: pg.PoolClient, cron: Cron): Promise<void>;
  updateCron(client: pg.PoolClient, cron: Cron): Promise<void>;
  /** `false` when the tick was there already. Deletes the ticks past the retained number. */
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
      [tick.cronId, RETAINED_TICKS],
    );
    return rowCount === 1;
  }

  return { insertCron, updateCron, insertTick };
}
/**
 * The format of what crons store as JSON: definitions and outcomes of ticks. Raise it with every change of one of their
 * schemas, so that a row which an older version has set aside is tried again by the version that can read it.
 */
export const CRON_FORMAT = 2;

/**
 * A stored row that this version can't decode. It is not the caller's failure: the row is set aside, and what was asked is done
 * again without it.
 */
export class UnreadableRow extends Error {
  override readonly name = "UnreadableRow";

  constructor(
    readonly key: {
      readonly table: "crons" | "cron_ticks";
      readonly cronId: string;
      readonly tickId?: string;
    },
    cause: unknown,
  ) {
    super(`A row of ${key.table} can't be read.`, { cause });
  }

  get id(): string {
    const { cronId, tickId } = this.key;
    return tickId === undefined ? cronId : `${cronId} ${tickId}`;
  }
}

/** The condition for rows of `alias` that no version of this format or a newer one has set aside. */
export function isReadable(alias: string): string {
  return `(${alias}.unreadable_format is null or ${alias}.unreadable_format < ${CRON_FORMAT})`;
}
