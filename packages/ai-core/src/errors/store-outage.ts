import type { Clock } from "../clock.js";
import { ThroughlineError } from "./throughline-error.js";

/**
 * An outage of PostgreSQL, our store. It is never the run's failure: the caller waits and tries again (`retryStore`), and only
 * a request that has waited long enough passes it on to its client, as 503.
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
 * SQLSTATE classes of temporary errors: connection, rollback (serialization, deadlock), resources (too many
 * connections, disk full), objects in use, operator intervention (shutdown, failover, cancelled by a timeout), system.
 */
const OUTAGE_CLASSES = new Set(["08", "40", "53", "55", "57", "58"]);
/** `read_only_sql_transaction`: the server behind this connection has become a standby. */
const READ_ONLY = "25006";
/** `idle_in_transaction_session_timeout`: this process was suspended in the middle of a transaction. */
const IDLE_IN_TRANSACTION = "25P03";

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

/** `pg` has no codes for connections that broke, stalled or took too long to open. */
const OUTAGE_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end on the pool)/i;

/**
 * Whether an error means that a store is unavailable, rather than that it refused a request. Called at the first `catch`
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
    return OUTAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || code === IDLE_IN_TRANSACTION;
  }
  return OUTAGE_MESSAGES.test(error.message);
}

/** Converts an outage to a `StoreOutage`; returns any other error unchanged. */
export function toStoreFailure(error: unknown): unknown {
  return isStoreOutage(error) && !(error instanceof StoreOutage) ? new StoreOutage(error) : error;
}

export interface RetryStoreOptions {
  readonly clock: Clock;
  /** Gives up when aborted, with the last `StoreOutage`. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up after this time, with the last `StoreOutage`. Absent: waits for the whole outage. */
  readonly patienceMs?: number | undefined;
  /** Returns a number in [0, 1), which spreads the retries of callers that wait for the same store. */
  readonly random?: (() => number) | undefined;
  /** Called before each wait. */
  readonly onOutage?: ((outage: StoreOutage) => void) | undefined;
}

const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 1_000;

/**
 * The one retry policy for store outages: waits and tries again, with exponential backoff and jitter. The attempt must be
 * idempotent, because a response may be lost after the store has committed. Every other error is thrown at once.
 */
export async function retryStore<Result>(
  { clock, signal, patienceMs = Number.POSITIVE_INFINITY, random = Math.random, onOutage }: RetryStoreOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const deadline = clock.now() + patienceMs;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      const outage = error instanceof StoreOutage ? error : new StoreOutage(error);
      const waitMs = delay * (0.5 + random() / 2);
      if (signal?.aborted || clock.now() + waitMs > deadline) throw outage;
      onOutage?.(outage);
      await pause(clock, waitMs, signal);
      if (signal?.aborted) throw outage;
    }
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.schedule(ms, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
