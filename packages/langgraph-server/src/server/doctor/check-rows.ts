import type { Clock } from "@throughline/ai-core";
import type pg from "pg";
import {
  CRON_COLUMNS,
  type CronRow,
  TICK_COLUMNS,
  type TickRow,
  toCron,
  toTick,
} from "../../crons/cron-rows.js";
import { type Finding, ok, warn } from "./finding.js";

interface RunRow {
  readonly run_id: string;
  readonly start: string | null;
  readonly request: string;
}

/** One table: its rows, newest first where that matters, and a decoder that throws. */
interface RowCheck<Row> {
  readonly table: string;
  readonly select: string;
  readonly idOf: (row: Row) => string;
  readonly read: (row: Row) => void;
  /** The column that identifies a row. */
  readonly key: string;
}

const CRONS: RowCheck<CronRow> = {
  table: "crons",
  select: `select ${CRON_COLUMNS} from throughline.crons c`,
  idOf: ({ cron_id }) => cron_id,
  read: toCron,
  key: "cron_id",
};
const TICKS: RowCheck<TickRow & { readonly cron_id: string }> = {
  table: "cron_ticks",
  select: `select t.cron_id, ${TICK_COLUMNS} from throughline.cron_ticks t`,
  idOf: ({ cron_id, tick_id }) => `${cron_id} ${tick_id}`,
  read: (row) => void toTick(row.cron_id, row),
  key: "cron_id",
};
const RUNS: RowCheck<RunRow> = {
  table: "runs",
  select: "select run_id, start, request from throughline.runs order by run_id desc",
  idOf: ({ run_id }) => run_id,
  read({ start, request }) {
    JSON.parse(start ?? "null");
    JSON.parse(request);
  },
  key: "run_id",
};

/** A large table is read as far as this time allows. */
const PATIENCE_MS = 5_000;
const ROWS_AT_ONCE = 100;
const MAX_IDS = 5;

/** Finds stored rows that this version can't decode, whether they are set aside already or not. */
export async function checkRows(client: pg.Client, clock: Clock): Promise<readonly Finding[]> {
  const findings = [
    await checkTable(client, clock, CRONS),
    await checkTable(client, clock, TICKS),
    await checkTable(client, clock, RUNS),
  ].filter((finding) => finding !== undefined);
  return findings.length > 0 ? findings : [ok("rows", "All stored rows can be read.")];
}

async function checkTable<Row extends pg.QueryResultRow>(
  client: pg.Client,
  clock: Clock,
  { table, select, idOf, read, key }: RowCheck<Row>,
): Promise<Finding | undefined> {
  const { rows: found } = await client.query<{ there: boolean }>(
    "select to_regclass($1) is not null as there",
    [`throughline.${table}`],
  );
  if (!found[0]?.there) return undefined;
  const bad: string[] = [];
  const deadline = clock.now() + PATIENCE_MS;
  await client.query(`begin read only; declare checked no scroll cursor for ${select}`);
  try {
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${ROWS_AT_ONCE} from checked`);
      bad.push(...rows.filter((row) => !isRead(() => read(row))).map(idOf));
      if (rows.length < ROWS_AT_ONCE || clock.now() > deadline) break;
    }
  } finally {
    await client.query("rollback");
  }
  if (bad.length === 0) return undefined;
  const ids = [...bad.slice(0, MAX_IDS), ...(bad.length > MAX_IDS ? ["…"] : [])].join(", ");
  return warn(
    "rows",
    `${bad.length} ${bad.length === 1 ? "row" : "rows"} of ${table} can't be read: ${ids}`,
    `select * from throughline.${table} where ${key} = '…'; docs/operations.md, "Rows that can't be read", says what to do`,
  );
}

function isRead(read: () => void): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
