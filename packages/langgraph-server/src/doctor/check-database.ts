import { type Clock, systemClock } from "@throughline/ai-core";
import { inspectMigrations, THREAD_LOG_MIGRATIONS } from "@throughline/thread-log";
import pg from "pg";
import type { ServerConfig } from "../config/read-config.js";
import { connectionAdvice, connectionProblem } from "../database/connection-problem.js";
import { startEmbeddedDatabase } from "../database/embedded-database.js";
import { SERVICE_MIGRATIONS } from "../database/server-migrations.js";
import { checkConnections, checkSessions, checkWrites } from "./check-database-settings.js";
import { checkPooler } from "./check-pooler.js";
import { checkRows } from "./check-rows.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const OLDEST_MAJOR = 14;
const SKEW_MS = 5_000;
const DEADLINE_MS = 5_000;

export interface DatabaseCheckOptions {
  readonly clock?: Clock;
  /** How long the database may take to let us in, and for each answer. Default 5 s. */
  readonly deadlineMs?: number;
}

/** Checks that the database answers and can do its work. An embedded one is started for it, or shared if it runs. */
export async function checkDatabase(
  {
    databaseUrl,
    databaseDirectUrl,
    dataDir,
  }: Pick<ServerConfig, "databaseUrl" | "dataDir"> & Partial<Pick<ServerConfig, "databaseDirectUrl">>,
  options: DatabaseCheckOptions = {},
): Promise<readonly Finding[]> {
  if (databaseUrl !== undefined) {
    const findings = await examineDatabase(databaseUrl, options);
    if (findings.some(({ subject, status }) => subject === "database" && status === "fail")) return findings;
    const { deadlineMs = DEADLINE_MS } = options;
    return [...findings, await checkPooler({ databaseUrl, databaseDirectUrl, deadlineMs })];
  }
  try {
    const embedded = await startEmbeddedDatabase(dataDir === undefined ? {} : { dataDir });
    try {
      const findings = await examineDatabase(embedded.url, options);
      return [
        ok("database", `The embedded PostgreSQL ${embedded.adopted ? "runs" : "starts"}.`),
        ...findings,
      ];
    } finally {
      await embedded.stop();
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return [
      fail(
        "database",
        said,
        "Set LANGGRAPH_DATABASE_URL to a PostgreSQL of your own, or THROUGHLINE_DATA_DIR to a folder.",
      ),
    ];
  }
}

type Check = (client: pg.Client, clock: Clock) => Promise<Finding | readonly Finding[]>;

const CHECKS: readonly Check[] = [
  checkVersion,
  checkClock,
  checkWrites,
  checkConnections,
  checkSessions,
  checkTables,
  checkRows,
];

async function examineDatabase(
  connectionString: string,
  { clock = systemClock, deadlineMs = DEADLINE_MS }: DatabaseCheckOptions,
): Promise<readonly Finding[]> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
  });
  client.on("error", () => {});
  const findings: Finding[] = [];
  try {
    await client.connect();
    for (const check of CHECKS) findings.push(...[await check(client, clock)].flat());
  } catch (error) {
    findings.push(fail("database", connectionProblem(error, deadlineMs), connectionAdvice(error)));
  } finally {
    await client.end().catch(() => {});
  }
  return findings;
}

async function checkVersion(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ number: string; name: string }>(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name",
  );
  const major = Math.floor(Number(rows[0]?.number) / 10_000);
  const said = `PostgreSQL ${rows[0]?.name ?? "of an unknown version"} answers.`;
  if (major >= OLDEST_MAJOR) return ok("database", said);
  return fail("database", said, `Upgrade it: Throughline needs PostgreSQL ${OLDEST_MAJOR} or newer.`);
}

/** Leases go by the database's clock; times in logs and entries go by this machine's. */
async function checkClock(client: pg.Client, clock: Clock): Promise<Finding> {
  const before = clock.now();
  const { rows } = await client.query<{ now: string }>(
    "select extract(epoch from clock_timestamp()) * 1000 as now",
  );
  const after = clock.now();
  const skew = Math.round(Number(rows[0]?.now) - (before + after) / 2);
  const said = `The database's clock and this machine's differ by ${Math.abs(skew)} ms.`;
  if (Math.abs(skew) <= SKEW_MS) return ok("clock", said);
  return warn(
    "clock",
    said,
    "Times in logs will not fit together. Set this machine's clock: timedatectl set-ntp true",
  );
}

const COMPONENTS = [{ record: "migrations", migrations: THREAD_LOG_MIGRATIONS }, ...SERVICE_MIGRATIONS];

async function checkTables(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ there: boolean; may_create: boolean }>(
    `select to_regclass('throughline.migrations') is not null as there,
            has_database_privilege(current_database(), 'CREATE') as may_create`,
  );
  if (!rows[0]?.there) {
    return rows[0]?.may_create
      ? ok("tables", "There are none yet; the first start makes them.")
      : fail(
          "tables",
          "There are none yet, and this user may not make them.",
          "As the database's owner: grant create on database … to …",
        );
  }
  const states = [];
  for (const component of COMPONENTS) states.push(await inspectMigrations(client, "throughline", component));
  const refusal = states.find((state) => state.refusal)?.refusal;
  if (refusal) return fail("tables", refusal.said, refusal.fix);
  const due = states.reduce((sum, state) => sum + state.due, 0);
  if (due > 0) return ok("tables", `The next start brings them up to date (${due} steps).`);
  return ok(
    "tables",
    states.some(({ isNewer }) => isNewer)
      ? "A newer version of Throughline has changed them, and says that this one runs on them."
      : "They are up to date.",
  );
}
