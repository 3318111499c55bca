import type pg from "pg";

/** What billing's stores need of a database: thread-log's `PostgresDatabase` is one. */
export interface LedgerDatabase {
  readonly pool: pg.Pool;
  readonly schema: string;
}
