import { type Clock, systemClock } from "@throughline/ai-core";
import { startEmbeddedPostgres } from "@throughline/thread-log";
import pg from "pg";
import type { ServerConfig } from "../../config/read-config.js";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../../database/server-migrations.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const OLDEST_MAJOR = 14;
const SKEW_MS = 2_000;

/** Reachable, new enough, migrated, and on time. The embedded server is started for it, or shared with whoever runs it. */
export async function checkDatabase(
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  clock: Clock = systemClock,
): Promise<readonly Finding[]> {
  if (databaseUrl !== undefined) return examineDatabase(databaseUrl, clock);
  try {
    const embedded = await startEmbeddedPostgres(dataDir === undefined ? {} : { dataDir });
    try {
      const findings = await examineDatabase(embedded.url, clock);
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

async function examineDatabase(connectionString: string, clock: Clock): Promise<readonly Finding[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    const findings = [await checkVersion(client), await checkClock(client, clock), await checkTables(client)];
    return findings;
  } catch (error) {
    return [fail("database", `PostgreSQL does not let us in: ${reasonOf(error)}.`, adviceFor(error))];
  } finally {
    await client.end().catch(() => {});
  }
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

/** Leases go by the database's clock; what people read in logs goes by this machine's. */
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
  const { rows: applied } = await client
    .query<{ id: number }>(`select id from throughline.${SERVER_MIGRATIONS_RECORD} order by id`)
    .catch(() => ({ rows: [] }));
  const known = SERVER_MIGRATIONS.map(({ id }) => id);
  const unknown = applied.filter(({ id }) => !known.includes(id));
  if (unknown.length > 0) {
    return warn("tables", "A newer Throughline has changed them.", "Run the newest version here too.");
  }
  const missing = known.filter((id) => !applied.some((row) => row.id === id));
  return ok(
    "tables",
    missing.length === 0
      ? "They are up to date."
      : `The next start brings them up to date (${missing.length} steps).`,
  );
}

function reasonOf(error: unknown): string {
  // The message may name the user, never the password.
  return error instanceof Error ? error.message.replace(/\s+/g, " ").replace(/\.$/, "") : String(error);
}

function adviceFor(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "28P01" || code === "28000") return "Correct user and password in LANGGRAPH_DATABASE_URL.";
  if (code === "3D000") return "Create it: createdb NAME, with the name that LANGGRAPH_DATABASE_URL ends in.";
  return 'Check LANGGRAPH_DATABASE_URL, and that the server runs and can be reached from here: pg_isready -d "$LANGGRAPH_DATABASE_URL"';
}
