import { ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { CONNECT_MS } from "./deadlines.js";

/** A pooler that others use at the same time may give two connections different sessions by chance. */
const ROUNDS = 3;

/** The session that answers: a process, and the server it belongs to, because there may be several behind one address. */
const SESSION = "select pg_backend_pid() || ' ' || pg_postmaster_start_time() as session";

/**
 * Whether a pooler in transaction mode is in between. Asked with connections of its own, because those of a pool begin with
 * settings, which a pooler would hand on to other clients.
 */
export async function isTransactionPooler(connection: pg.ClientConfig): Promise<boolean> {
  const clients = [0, 1].map(
    () => new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }),
  );
  for (const client of clients) client.on("error", () => {});
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const [one, other] = clients;
    return one !== undefined && other !== undefined && (await shareSessions(one, other));
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/**
 * Behind a pooler in transaction mode two connections that are both open are answered by one session, or one connection by
 * several. Asks one after the other, because an idle pooler gives out the session it used last.
 */
export async function shareSessions(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const seen = [new Set<string>(), new Set<string>()] as const;
  for (let round = 0; round < ROUNDS; round++) {
    seen[0].add(await sessionOf(one));
    seen[1].add(await sessionOf(other));
  }
  return seen[0].size > 1 || seen[1].size > 1 || [...seen[0]].some((session) => seen[1].has(session));
}

async function sessionOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ session: string }>(SESSION);
  return rows[0]?.session ?? "";
}

export function behindPooler(): ThroughlineError {
  return new ThroughlineError(
    "invalid_input",
    "The database is reached through a pooler in transaction mode. Set LANGGRAPH_DATABASE_DIRECT_URL to the address of the PostgreSQL server itself.",
    { details: { field: "LANGGRAPH_DATABASE_DIRECT_URL" } },
  );
}
