import { toStoreFailure } from "@throughline/ai-core";
import {
  admitInTransaction,
  inTransaction,
  type PostgresDatabase,
  subjectKey,
} from "@throughline/thread-log";
import type pg from "pg";
import type { Page } from "../threads/paging.js";
import type { ClaimedTick, Cron, CronScope, CronTick } from "./cron.js";
import {
  CRON_COLUMNS,
  CRON_FORMAT,
  type CronRow,
  cronWrites,
  isReadable,
  keyOf,
  TICK_COLUMNS,
  type TickRow,
  timeOf,
  toCron,
  toLastTick,
  toTick,
  UnreadableRow,
} from "./cron-rows.js";
import type { BadRowListener, Claimed, CronEntry, CronStore } from "./cron-store.js";
import { claimCron } from "./plan-tick.js";

type Queries = pg.Pool | pg.PoolClient;

/** Reads the current time for crons. */
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
): CronStore {
  const crons = `${schema}.crons`;
  const cronTicks = `${schema}.cron_ticks`;
  const withLastTick = `from ${crons} c left join lateral (
    select * from ${cronTicks} l where l.cron_id = c.cron_id and ${isReadable("l")}
    order by claimed_at desc, tick_id desc limit 1
  ) t on true`;
  const writes = cronWrites({ crons, cronTicks });
  const listeners = new Set<BadRowListener>();

  /** A statement outside of a transaction. An outage is known as such from here on. */
  async function ask<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
  ): Promise<pg.QueryResult<Row>> {
    try {
      return await pool.query<Row>(text, values);
    } catch (error) {
      throw toStoreFailure(error);
    }
  }

  /** Does the work again without the rows that can't be decoded: one bad row must not cost the others their turn. */
  async function withoutUnreadable<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnreadableRow)) throw error;
        await markUnreadable(error);
      }
    }
  }

  /** Marks the row, which stays for the operator. Of several instances that find it, the one that marks it reports it. */
  async function markUnreadable({ key, id, cause }: UnreadableRow): Promise<void> {
    const { rowCount } =
      key.tickId === undefined
        ? await ask(
            `update ${crons} r set unreadable_format = $2 where cron_id = $1 and ${isReadable("r")}`,
            [key.cronId, CRON_FORMAT],
          )
        : await ask(
            `update ${cronTicks} r set unreadable_format = $3 where cron_id = $1 and tick_id = $2 and ${isReadable("r")}`,
            [key.cronId, key.tickId, CRON_FORMAT],
          );
    if (rowCount !== 1) return;
    for (const listener of listeners) listener({ table: key.table, id, error: cause });
  }

  async function entries(
    condition: string,
    values: readonly unknown[],
    rest = "",
  ): Promise<readonly CronEntry[]> {
    const { rows } = await ask<EntryRow>(
      `select ${CRON_COLUMNS}, ${TICK_COLUMNS} ${withLastTick} where ${isReadable("c")} and ${condition} ${rest}`,
      [...values],
    );
    return rows.map((row) => ({ cron: toCron(row), lastTick: toLastTick(row.cron_id, row) }));
  }

  async function find(scope: CronScope, id: string): Promise<CronEntry | undefined> {
    const [entry] = await entries(SAME_CRON, keyOf(scope, id));
    return entry;
  }

  async function lock(client: pg.PoolClient, scope: CronScope, id: string): Promise<Cron | undefined> {
    const { rows } = await client.query<CronRow>(
      `select ${CRON_COLUMNS} from ${crons} c where ${SAME_CRON} and ${isReadable("c")} for update`,
      keyOf(scope, id),
    );
    return rows[0] && toCron(rows[0]);
  }

  /** Locks the crons that are due, and passes over those that another instance has locked. */
  async function claimDue(client: pg.PoolClient, limit: number, leaseMs: number): Promise<Claimed> {
    const at = await now(client);
    const { rows } = await client.query<CronRow>(
      `select ${CRON_COLUMNS} from ${crons} c where c.due_at <= $1 and ${isReadable("c")} order by c.due_at limit $2
       for update skip locked`,
      [timeOf(at), limit],
    );
    const ticks: ClaimedTick[] = [];
    const decided: CronTick[] = [];
    for (const { cron, tick } of rows.map((row) => claimCron(toCron(row), at))) {
      await writes.updateCron(client, cron);
      if (!tick || !(await writes.insertTick(client, tick, leaseMs))) continue;
      if (tick.outcome.kind === "pending") ticks.push({ cron, tick });
      else decided.push(tick);
    }
    return { crons: rows.length, ticks, decided };
  }

  /** Locks overdue ticks, not their crons, and passes over those that another instance has locked. */
  async function claimPending(client: pg.PoolClient, limit: number, leaseMs: number): Promise<ClaimedTick[]> {
    const at = await now(client);
    const { rows } = await client.query<CronRow & TickRow>(
      `with overdue as (
         select t.cron_id, t.tick_id from ${cronTicks} t join ${crons} c using (cron_id)
         where t.retry_at <= $1 and ${isReadable("t")} and ${isReadable("c")} order by t.retry_at limit $2
         for update of t skip locked
       ), taken as (
         update ${cronTicks} t set attempt = t.attempt + 1, retry_at = $3
         from overdue o where t.cron_id = o.cron_id and t.tick_id = o.tick_id
         returning t.*
       )
       select ${CRON_COLUMNS}, ${TICK_COLUMNS} from taken t join ${crons} c using (cron_id)`,
      [timeOf(at), limit, timeOf(at + leaseMs)],
    );
    return rows.map((row) => ({ cron: toCron(row), tick: toTick(row.cron_id, row) }));
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
        await admitInTransaction(client, schema, { account: cron.account, subject: cron.subject });
        await writes.insertCron(client, cron);
        return cron;
      }),
    onBadRow: (listener) => void listeners.add(listener),
    find: (scope, id) => withoutUnreadable(() => find(scope, id)),
    list: (scope, { after, limit }) =>
      withoutUnreadable(() =>
        entries(
          `c.account = $1 and c.subject = $2 and ($3::timestamptz is null or (c.created_at, c.cron_id) > ($3, $4::text))`,
          [scope.account, subjectKey(scope), ...positionOf(after), limit],
          "order by c.created_at, c.cron_id limit $5",
        ),
      ),
    async change(scope, id, apply) {
      const isChanged = await withoutUnreadable(() =>
        inTransaction(pool, async (client) => {
          const cron = await lock(client, scope, id);
          if (!cron) return false;
          await writes.updateCron(client, apply(cron, await now(client)));
          // Rewritten, the row may be one that every version can read.
          await client.query(`update ${crons} set unreadable_format = null where cron_id = $1`, [id]);
          return true;
        }),
      );
      return isChanged ? withoutUnreadable(() => find(scope, id)) : undefined;
    },
    async remove(scope, id) {
      const { rowCount } = await ask(`delete from ${crons} c where ${SAME_CRON}`, keyOf(scope, id));
      return rowCount === 1;
    },
    async removeAll(account, subject) {
      const { rowCount } = await ask(
        `delete from ${crons} where account = $1 and ($2::text is null or subject = $2)`,
        [account, subject ?? null],
      );
      return rowCount ?? 0;
    },
    ticks: (scope, id, { after, limit }) =>
      withoutUnreadable(async () => {
        const { rows } = await ask<TickRow>(
          `select ${TICK_COLUMNS} from ${cronTicks} t join ${crons} c using (cron_id)
           where ${SAME_CRON} and ${isReadable("t")} and ($4::timestamptz is null or (t.claimed_at, t.tick_id) < ($4, $5::text))
           order by t.claimed_at desc, t.tick_id desc limit $6`,
          [...keyOf(scope, id), ...positionOf(after), limit],
        );
        return rows.map((row) => toTick(id, row));
      }),
    addTick: (scope, id, leaseMs, make) =>
      withoutUnreadable(() =>
        inTransaction(pool, async (client) => {
          const cron = await lock(client, scope, id);
          if (!cron) return undefined;
          const tick = make(cron, await now(client));
          await writes.insertTick(client, tick, leaseMs);
          return { cron, tick };
        }),
      ),
    claimDue: (limit, leaseMs) =>
      withoutUnreadable(() => inTransaction(pool, (client) => claimDue(client, limit, leaseMs))),
    claimPending: (limit, leaseMs) =>
      withoutUnreadable(() => inTransaction(pool, (client) => claimPending(client, limit, leaseMs))),
    async settle(tick, outcome) {
      const { rowCount } = await ask(
        `update ${cronTicks} set outcome = $3, retry_at = null
         where cron_id = $1 and tick_id = $2 and (retry_at is not null or ($4 and outcome <> $3))`,
        [tick.cronId, tick.id, JSON.stringify(outcome), outcome.kind === "started"],
      );
      return rowCount === 1;
    },
    async postpone(tick, ms) {
      await ask(
        `update ${cronTicks} set retry_at = $3 where cron_id = $1 and tick_id = $2 and retry_at is not null`,
        [tick.cronId, tick.id, timeOf((await now(pool)) + ms)],
      );
    },
    async untilDue() {
      const { rows } = await ask<{ due: Date | null }>(
        `select least(
           (select min(c.due_at) from ${crons} c where c.due_at is not null and ${isReadable("c")}),
           (select min(t.retry_at) from ${cronTicks} t join ${crons} c using (cron_id)
            where t.retry_at is not null and ${isReadable("t")} and ${isReadable("c")})) as due`,
      );
      const due = rows[0]?.due;
      return due ? Math.max(0, due.getTime() - (await now(pool))) : undefined;
    },
  };
}

/** The condition of every statement about one cron: its first three parameters. */
const SAME_CRON = "c.account = $1 and c.subject = $2 and c.cron_id = $3";

function positionOf(after: Page["after"]): [Date | null, string | null] {
  return [timeOf(after?.at), after?.id ?? null];
}
