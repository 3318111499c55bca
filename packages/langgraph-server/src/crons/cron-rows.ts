import { subjectKey } from "@throughline/thread-log";
import { type Cron, type CronScope, type CronTick, tickOutcomeSchema } from "./cron.js";
import { cronDefinitionSchema } from "./cron-definition.js";
import { UnreadableRow } from "./unreadable-row.js";

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
