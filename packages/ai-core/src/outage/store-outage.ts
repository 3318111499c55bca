import { ThroughlineError } from "../errors/throughline-error.js";

/**
 * PostgreSQL, our store, did not answer. It is never the run's failure: what met it waits and tries again
 * (`retryStore`), and only a request that has waited long enough passes it on to its client, as 503.
 */
export class StoreOutage extends ThroughlineError {
  constructor(cause: unknown) {
    super("store_unavailable", "The service's database does not answer right now. Try again in a moment.", {
      cause,
      details: { retryAfterMs: 1_000 },
    });
  }
}

/**
 * SQLSTATE classes that a later try may not meet: connection, rollback (serialization, deadlock), resources (too many
 * connections, disk full), objects in use, operator intervention (shutdown, failover, cancelled by a timeout), system.
 */
const OUTAGE_CLASSES = new Set(["08", "40", "53", "55", "57", "58"]);
/** `read_only_sql_transaction`: the server behind this connection has become a standby. */
const READ_ONLY = "25006";
/** `idle_in_transaction_session_timeout`: this process stood still in the middle of a transaction. */
const STOOD_STILL = "25P03";

const SQLSTATE = /^[0-9A-Z]{5}$/;

const SOCKET_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // a Unix socket whose server is away
  "EMFILE",
  "ENFILE",
]);

/** `pg` has no codes for connections that broke, stalled or were waited for too long. */
const OUTAGE_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end on the pool)/i;

/**
 * Whether an error says that a store is away, rather than that it refused what it was asked. Asked at the first `catch`
 * around a store's driver, and nowhere else: from there on an outage is a `StoreOutage`.
 */
export function isStoreOutage(error: unknown): boolean {
  if (error instanceof StoreOutage) return true;
  if (error instanceof ThroughlineError || !(error instanceof Error)) return false;
  // Several addresses of one host were tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isStoreOutage);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (SOCKET_CODES.has(code)) return true;
  if (SQLSTATE.test(code)) {
    return OUTAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || code === STOOD_STILL;
  }
  return OUTAGE_MESSAGES.test(error.message);
}

/** The error as a `StoreOutage` where it is one, else as it came. */
export function toStoreFailure(error: unknown): unknown {
  return isStoreOutage(error) && !(error instanceof StoreOutage) ? new StoreOutage(error) : error;
}
