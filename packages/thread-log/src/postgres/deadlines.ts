import { isStoreOutage, StoreOutage } from "@throughline/ai-core";
import pg from "pg";

/** How long a server may take to let us in. */
export const CONNECT_MS = 5_000;

/** How long a statement may take by default. */
export const STATEMENT_MS = 10_000;

/** Migrations, and statements that rewrite every thread. */
export const MIGRATION_MS = 10 * 60_000;

/** Deletion and trimming of threads that hold many entries. */
export const BULK_MS = 2 * 60_000;

/** Finds out within about 15 s that the other end of an idle connection is gone. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const;

/**
 * The server's own deadline for a statement. It lies below ours, so that a statement that is merely slow is cancelled by the
 * server, and ours is met only where the connection is broken.
 */
export function serverDeadline(statementMs: number): number {
  return Math.max(1, Math.floor(statementMs * 0.9));
}

/** The same client, whose statements have another deadline than its connection's. Calls must be awaited: no callbacks. */
export function withDeadline(client: pg.PoolClient, statementMs: number): pg.PoolClient {
  return new Proxy(client, {
    get(_, name) {
      const member: unknown = Reflect.get(client, name);
      if (typeof member !== "function") return member;
      if (name !== "query") return member.bind(client);
      return (query: string | pg.QueryConfig, values?: unknown[]) => {
        const asked = typeof query === "string" ? { text: query, ...(values && { values }) } : query;
        return Reflect.apply(member, client, [{ ...asked, query_timeout: statementMs }]);
      };
    },
  });
}

/**
 * Whether a failure leaves the state of its connection unknown. It does not where the server answered, unless that was its
 * last word on this connection.
 */
export function isConnectionInDoubt(error: unknown): boolean {
  const cause = error instanceof StoreOutage ? error.cause : error;
  const wasAnswered = cause instanceof pg.DatabaseError && cause.severity !== "FATAL";
  return isStoreOutage(error) && !wasAnswered;
}
