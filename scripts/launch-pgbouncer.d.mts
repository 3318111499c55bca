export interface Pgbouncer {
  /** The same database as the server's URL, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** What is missing to run a pgbouncer here; `npm test` installs it where it may. */
export function findMissingPgbouncer(): string | undefined;

/** A pooler in transaction mode in front of the PostgreSQL at `target`, which takes any user for the one of `target`. */
export function launchPgbouncer(target: string): Promise<Pgbouncer>;
