import {
  type AdmitInTransaction,
  inTransaction,
  type PostgresDatabase,
  subjectKey,
} from "@throughline/thread-log";
import type pg from "pg";
import type { ClaimedTick, Cron, CronScope, CronTick } from "./cron.js";
import {
  CRON_COLUMNS,
  type CronRow,
  TICK_COLUMNS,
  type TickRow,
  timeOf,
  toCron,
  toLastTick,
  toTick,
} from "./cron-rows.js";
import { type CronEntry, type CronStore, KEPT_TICKS } from "./cron-store.js";
import { claimCron } from "./cron-tick.js";
import type { Page } from "./page-place.js";

type Queries = pg.Pool | pg.PoolClient;

/** What time it is for crons. */
export type StoreNow = (queries: Queries) => Promise<number>;

/** R18: the database's clock, which all instances share. */
const databaseNow: StoreNow = async (queries) => {
  const { rows } = await queries.query<{ now: Date }>("select clock_timestamp() as now");
  return (rows[0]?.now ?? new Date()).getTime();
};

type EntryRow = CronRow & { [K in keyof TickRow]: TickRow[K] | null };

export function createPostgresCronStore(
  { pool, schema }: PostgresDatabase,
  now: StoreNow = databaseNow,
  { admit }: { readonly admit?: AdmitInTransaction } = {},
): CronStore {
  const crons = `${schema}.crons`;
  const cronTicks = `${schema}.cron_ticks`;
  const withLastTick = `from ${crons} c left join lateral (
    select * from ${cronTicks} where cron_id = c.cron_id order by claimed_at desc, tick_id desc limit 1
  ) t on true`;

  async function entries(
    queries: Queries,
    rest: string,
    values: readonly unknown[],
  ): Promise<readonly CronEntry[]> {
    const { rows } = await queries.query<EntryRow>(
      `select ${CRON_COLUMNS}, ${TICK_COLUMNS} ${withLastTick} ${rest}`,
      [...values],
    );
    return rows.map((row) => ({ cron: toCron(row), lastTick: toLastTick(row.cron_id, row) }));
  }

  async function lock(client: pg.PoolClient, scope: CronScope, id: string): Promise<Cron | undefined> {
    const { rows } = await client.query<CronRow>(
      `select ${CRON_COLUMNS} from ${crons} c where ${SAME_CRON} for update`,
      keyOf(scope, id),
    );
    return rows[0] && toCron(rows[0]);
  }

  async function write(client: pg.PoolClient, cron: Cron): Promise<void> {
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

  /** `false` when it was there. */
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

  return {
    now: () => now(pool),
    create: (account, limit, make) =>
      inTransaction(pool, async (client) => {
        // Two requests at once must not both be the last that fits.
        await client.query("select pg_advisory_xact_lock(hashtext('throughline crons'), hashtext($1))", [
          account,
        ]);
        const { rows } = await client.query<{ count: string }>(
          `select count(*) as count from ${crons} where account = $1`,
          [account],
        );
        if (Number(rows[0]?.count ?? 0) >= limit) return undefined;
        const cron = make(await now(client));
        await admit?.(client, { account: cron.account, subject: cron.subject });
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
        return cron;
      }),
    async find(scope, id) {
      const [entry] = await entries(pool, `where ${SAME_CRON}`, keyOf(scope, id));
      return entry;
    },
    list: (scope, { after, limit }) =>
      entries(
        pool,
        `where c.account = $1 and c.subject = $2 and ($3::timestamptz is null or (c.created_at, c.cron_id) > ($3, $4::text))
         order by c.created_at, c.cron_id limit $5`,
        [scope.account, subjectKey(scope), ...placeOf(after), limit],
      ),
    change: (scope, id, apply) =>
      inTransaction(pool, async (client) => {
        const cron = await lock(client, scope, id);
        if (!cron) return undefined;
        await write(client, apply(cron, await now(client)));
        const [entry] = await entries(client, `where ${SAME_CRON}`, keyOf(scope, id));
        return entry;
      }),
    async remove(scope, id) {
      const { rowCount } = await pool.query(`delete from ${crons} c where ${SAME_CRON}`, keyOf(scope, id));
      return rowCount === 1;
    },
    async removeAll(account, subject) {
      const { rowCount } = await pool.query(
        `delete from ${crons} where account = $1 and ($2::text is null or subject = $2)`,
        [account, subject ?? null],
      );
      return rowCount ?? 0;
    },
    async ticks(scope, id, { after, limit }) {
      const { rows } = await pool.query<TickRow>(
        `select ${TICK_COLUMNS} from ${cronTicks} t join ${crons} c using (cron_id)
         where ${SAME_CRON} and ($4::timestamptz is null or (t.claimed_at, t.tick_id) < ($4, $5::text))
         order by t.claimed_at desc, t.tick_id desc limit $6`,
        [...keyOf(scope, id), ...placeOf(after), limit],
      );
      return rows.map((row) => toTick(id, row));
    },
    addTick: (scope, id, leaseMs, make) =>
      inTransaction(pool, async (client) => {
        const cron = await lock(client, scope, id);
        if (!cron) return undefined;
        const tick = make(cron, await now(client));
        await insertTick(client, tick, leaseMs);
        return { cron, tick };
      }),
    claimDue: (limit, leaseMs) =>
      inTransaction(pool, async (client) => {
        const at = await now(client);
        const { rows } = await client.query<CronRow>(
          `select ${CRON_COLUMNS} from ${crons} c where c.due_at <= $1 order by c.due_at limit $2
           for update skip locked`,
          [timeOf(at), limit],
        );
        const ticks: ClaimedTick[] = [];
        const decided: CronTick[] = [];
        for (const { cron, tick } of rows.map((row) => claimCron(toCron(row), at))) {
          await write(client, cron);
          if (!tick || !(await insertTick(client, tick, leaseMs))) continue;
          if (tick.outcome.kind === "pending") ticks.push({ cron, tick });
          else decided.push(tick);
        }
        return { crons: rows.length, ticks, decided };
      }),
    claimPending: (limit, leaseMs) =>
      inTransaction(pool, async (client) => {
        const at = await now(client);
        const { rows } = await client.query<CronRow & TickRow>(
          `with overdue as (
             select cron_id, tick_id from ${cronTicks} where retry_at <= $1 order by retry_at limit $2
             for update skip locked
           ), taken as (
             update ${cronTicks} t set attempt = t.attempt + 1, retry_at = $3
             from overdue o where t.cron_id = o.cron_id and t.tick_id = o.tick_id
             returning t.*
           )
           select ${CRON_COLUMNS}, ${TICK_COLUMNS} from taken t join ${crons} c using (cron_id)`,
          [timeOf(at), limit, timeOf(at + leaseMs)],
        );
        return rows.map((row) => ({ cron: toCron(row), tick: toTick(row.cron_id, row) }));
      }),
    async settle(tick, outcome) {
      const { rowCount } = await pool.query(
        `update ${cronTicks} set outcome = $3, retry_at = null
         where cron_id = $1 and tick_id = $2 and (retry_at is not null or ($4 and outcome <> $3))`,
        [tick.cronId, tick.id, JSON.stringify(outcome), outcome.kind === "started"],
      );
      return rowCount === 1;
    },
    async postpone(tick, ms) {
      await pool.query(
        `update ${cronTicks} set retry_at = $3 where cron_id = $1 and tick_id = $2 and retry_at is not null`,
        [tick.cronId, tick.id, timeOf((await now(pool)) + ms)],
      );
    },
    async untilDue() {
      const { rows } = await pool.query<{ due: Date | null }>(
        `select least((select min(due_at) from ${crons} where due_at is not null),
           (select min(retry_at) from ${cronTicks} where retry_at is not null)) as due`,
      );
      const due = rows[0]?.due;
      return due ? Math.max(0, due.getTime() - (await now(pool))) : undefined;
    },
  };
}

/** The condition of every statement about one cron: its first three parameters. */
const SAME_CRON = "c.account = $1 and c.subject = $2 and c.cron_id = $3";

function keyOf(scope: CronScope, id: string): [string, string, string] {
  return [scope.account, subjectKey(scope), id];
}

function placeOf(after: Page["after"]): [Date | null, string | null] {
  return [timeOf(after?.at), after?.id ?? null];
}
