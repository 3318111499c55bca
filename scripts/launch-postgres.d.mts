export interface LaunchedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** For tests: a PostgreSQL of their own, on a socket in a folder that goes with it. */
export function launchPostgres(): Promise<LaunchedPostgres>;
