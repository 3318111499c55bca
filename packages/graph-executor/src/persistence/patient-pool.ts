import pg from "pg";

/** How long a server may take to let us in. */
const CONNECT_MS = 5_000;
/** How long a statement may wait for others to be done with their connections. */
const QUEUE_MS = 30_000;

class QuickClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }
}

/**
 * The pool's one timeout is for making connections and for waiting for one. A server that is away must be noticed soon; a run
 * that waits with a hundred others to write its checkpoint must not fail for it.
 */
export const PATIENT_POOL = { Client: QuickClient, connectionTimeoutMillis: QUEUE_MS } as const;
