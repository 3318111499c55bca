import { shareSessions } from "@throughline/thread-log";
import pg from "pg";
import { scrubText } from "../operations/scrub-text.js";
import { type Finding, fail, ok } from "./finding.js";

const DIRECT = "LANGGRAPH_DATABASE_DIRECT_URL";

export interface PoolerCheck {
  readonly databaseUrl: string;
  readonly databaseDirectUrl: string | undefined;
  readonly deadlineMs: number;
}

/** Whether a pooler in transaction mode is in front of the database, and whether the server itself can be reached then. */
export async function checkPooler({
  databaseUrl,
  databaseDirectUrl,
  deadlineMs,
}: PoolerCheck): Promise<Finding> {
  const main = await look(databaseUrl, deadlineMs);
  if (main instanceof Error) return fail("pooler", said("LANGGRAPH_DATABASE_URL", main), "Try again.");
  if (databaseDirectUrl === undefined) {
    if (!main.isPooled) return ok("pooler", "No pooler in transaction mode is in between.");
    return fail(
      "pooler",
      "LANGGRAPH_DATABASE_URL leads to a pooler in transaction mode.",
      `Set ${DIRECT} to the address of the PostgreSQL server itself.`,
    );
  }
  const direct = await look(databaseDirectUrl, deadlineMs);
  if (direct instanceof Error) {
    return fail(
      "pooler",
      said(DIRECT, direct),
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
  /** Of the database, whichever way it is reached. */
  readonly identity: string;
}

async function look(connectionString: string, deadlineMs: number): Promise<Seen | Error> {
  const connect = () =>
    new pg.Client({ connectionString, connectionTimeoutMillis: deadlineMs, query_timeout: deadlineMs }).on(
      "error",
      () => {},
    );
  const [one, other] = [connect(), connect()];
  try {
    await Promise.all([one.connect(), other.connect()]);
    const isPooled = await shareSessions(one, other);
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

function said(variable: string, error: Error): string {
  return `${variable} does not lead to a database: ${scrubText(error.message).replace(/\.$/, "")}.`;
}
