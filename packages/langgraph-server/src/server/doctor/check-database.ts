import { type Clock, systemClock } from "@throughline/ai-core";
import { inspectMigrations, isSharedSession, THREAD_LOG_MIGRATIONS } from "@throughline/thread-log";
import pg from "pg";
import { scrubText } from "../../operations/redaction.js";
import type { ServerConfig } from "../../settings/server-config.js";
import { connectionAdvice, connectionProblem, startEmbeddedDatabase } from "../database.js";
import { SERVICE_MIGRATIONS } from "../migrations.js";
import { checkRows } from "./check-rows.js";
import { type Finding, fail, ok, warn } from "./finding.js";

/**
 * The most connections of an instance: 8 for reads and the registry, 8 for checkpoints, 4 for the graphs' store, 5 to commit, 2
 * single ones.
 */
const CONNECTIONS_PER_INSTANCE = 27;
/** A busy process may pause for so long inside a transaction. */
const SHORTEST_IDLE_MS = 5_000;

async function checkWrites(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(
    "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only",
  );
  if (rows[0]?.standby) {
    return fail(
      "writes",
      "This server is a standby and takes no writes.",
      "Point LANGGRAPH_DATABASE_URL to the primary server.",
    );
  }
  if (!rows[0]?.read_only) return ok("writes", "The database takes writes.");
  return fail(
    "writes",
    "The database is read-only (default_transaction_read_only).",
    "alter database … reset default_transaction_read_only; or the same for the role",
  );
}

interface ConnectionRow {
  readonly max: number;
  readonly reserved: number;
  readonly used: number;
  /** -1: no limit. */
  readonly role_limit: number;
  readonly database_limit: number;
  readonly is_superuser: boolean;
}

/** Limits of roles and databases, and reserved connections, are not for superusers. */
async function checkConnections(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<ConnectionRow>(
    `select current_setting('max_connections')::int as max,
            current_setting('superuser_reserved_connections')::int
              + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
            (select count(*)::int from pg_stat_activity
             where backend_type = 'client backend' and pid <> pg_backend_pid()) as used,
            r.rolconnlimit as role_limit, d.datconnlimit as database_limit, r.rolsuper as is_superuser
     from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
  );
  const [row] = rows;
  if (!row)
    return warn("connections", "The database does not tell how many it allows.", "Check max_connections.");
  const server = row.is_superuser ? row.max : row.max - row.reserved;
  const limits = row.is_superuser ? [] : [row.role_limit, row.database_limit].filter((limit) => limit >= 0);
  const allowed = Math.min(server, ...limits);
  const needed = `an instance opens up to ${CONNECTIONS_PER_INSTANCE}`;
  if (allowed < CONNECTIONS_PER_INSTANCE) {
    return fail(
      "connections",
      `The database allows ${allowed} of them; ${needed}.`,
      allowed === server
        ? "alter system set max_connections = 100, then restart PostgreSQL"
        : "alter role … connection limit -1; alter database … connection limit -1",
    );
  }
  const message = `The database allows ${allowed} of them, ${row.used} are in use; ${needed}.`;
  if (server - row.used >= CONNECTIONS_PER_INSTANCE) return ok("connections", message);
  return warn(
    "connections",
    message,
    "See what uses them: select application_name, count(*) from pg_stat_activity group by 1. Or raise max_connections.",
  );
}

async function checkSessions(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ ms: number }>(
    "select setting::int as ms from pg_settings where name = 'idle_in_transaction_session_timeout'",
  );
  const ms = rows[0]?.ms ?? 0;
  if (ms === 0)
    return ok("sessions", "The database sets no limit for idle transactions; Throughline sets its own.");
  const message = `The database ends transactions that are idle for ${ms} ms.`;
  if (ms >= SHORTEST_IDLE_MS) return ok("sessions", message);
  return warn(
    "sessions",
    message,
    "A busy process is cut off then. Set it to 5 s or more: alter role … set idle_in_transaction_session_timeout = '15s'",
  );
}

const OLDEST_MAJOR = 14;
const SKEW_MS = 5_000;
const DEADLINE_MS = 5_000;

export interface DatabaseCheckOptions {
  readonly clock?: Clock;
  /** Time limit for connecting to the database and for each response. Default 5 s. */
  readonly deadlineMs?: number;
}

/** Checks that the database responds and fits. An embedded one is started for it, or shared if it runs. */
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
    const message = error instanceof Error ? error.message : String(error);
    return [
      fail(
        "database",
        message,
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
  const message = `PostgreSQL ${rows[0]?.name ?? "of an unknown version"} answers.`;
  if (major >= OLDEST_MAJOR) return ok("database", message);
  return fail("database", message, `Upgrade it: Throughline needs PostgreSQL ${OLDEST_MAJOR} or newer.`);
}

/** Compares the clocks: leases use the database's, times in logs and entries this machine's. */
async function checkClock(client: pg.Client, clock: Clock): Promise<Finding> {
  const before = clock.now();
  const { rows } = await client.query<{ now: string }>(
    "select extract(epoch from clock_timestamp()) * 1000 as now",
  );
  const after = clock.now();
  const skew = Math.round(Number(rows[0]?.now) - (before + after) / 2);
  const message = `The database's clock and this machine's differ by ${Math.abs(skew)} ms.`;
  if (Math.abs(skew) <= SKEW_MS) return ok("clock", message);
  return warn(
    "clock",
    message,
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

const DIRECT = "LANGGRAPH_DATABASE_DIRECT_URL";

export interface PoolerCheck {
  readonly databaseUrl: string;
  readonly databaseDirectUrl: string | undefined;
  readonly deadlineMs: number;
}

/** Checks whether a pooler in transaction mode is in front of the database, and whether the server itself is then reachable. */
async function checkPooler({ databaseUrl, databaseDirectUrl, deadlineMs }: PoolerCheck): Promise<Finding> {
  const main = await probe(databaseUrl, deadlineMs);
  if (main instanceof Error) return fail("pooler", messageOf("LANGGRAPH_DATABASE_URL", main), "Try again.");
  if (databaseDirectUrl === undefined) {
    if (!main.isPooled) return ok("pooler", "No pooler in transaction mode is in between.");
    return fail(
      "pooler",
      "LANGGRAPH_DATABASE_URL leads to a pooler in transaction mode.",
      `Set ${DIRECT} to the address of the PostgreSQL server itself.`,
    );
  }
  const direct = await probe(databaseDirectUrl, deadlineMs);
  if (direct instanceof Error) {
    return fail(
      "pooler",
      messageOf(DIRECT, direct),
      `Correct ${DIRECT}: it is the address of the PostgreSQL server itself.`,
    );
  }
  if (direct.isPooled) {
    return fail(
      "pooler",
      `${DIRECT} leads to a pooler in transaction mode, too.`,
      `Set ${DIRECT} to the address of the PostgreSQL server itself.`,
    );
  }
  if (direct.identity !== main.identity) {
    return fail(
      "pooler",
      `LANGGRAPH_DATABASE_URL and ${DIRECT} lead to different databases.`,
      "Both must name the same database of the same server.",
    );
  }
  return ok(
    "pooler",
    main.isPooled
      ? `A pooler in transaction mode is in between, and ${DIRECT} leads to the server behind it.`
      : `No pooler in transaction mode is in between; ${DIRECT} is not needed, and without it statements stay prepared.`,
  );
}

interface Seen {
  readonly isPooled: boolean;
  /** The identity of the database, independent of how it is reached. */
  readonly identity: string;
}

async function probe(connectionString: string, deadlineMs: number): Promise<Seen | Error> {
  const connect = () =>
    new pg.Client({ connectionString, connectionTimeoutMillis: deadlineMs, query_timeout: deadlineMs }).on(
      "error",
      () => {},
    );
  const [one, other] = [connect(), connect()];
  try {
    await Promise.all([one.connect(), other.connect()]);
    const isPooled = await isSharedSession(one, other);
    const { rows } = await one.query<{ identity: string }>(
      "select oid || ' ' || pg_postmaster_start_time() as identity from pg_database where datname = current_database()",
    );
    return { isPooled, identity: rows[0]?.identity ?? "" };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => {})));
  }
}

function messageOf(variable: string, error: Error): string {
  return `${variable} does not lead to a database: ${scrubText(error.message).replace(/\.$/, "")}.`;
}
