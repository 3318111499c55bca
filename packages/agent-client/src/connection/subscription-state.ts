import {
  backoffMs,
  type Connection,
  type ConnectionPolicy,
  type ConnectionStatus,
  isRetryable,
  type Moment,
  type RequestFailure,
} from "./connection-state.js";

/** The state of one thread on the browser's stream, in addition to the state of the stream itself. */
export interface Subscription {
  /** The stream that carries it. */
  readonly stream: number | undefined;
  readonly carriedAt: number;
  /** The service could not resume from the cursor and sent a snapshot. */
  readonly isGap: boolean;
  /** Failures in a row of this one alone. */
  readonly attempt: number;
  /** When it is requested again, after a retryable failure. */
  readonly retryAt: number | undefined;
  /** Set where a retry would not help. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

export const newSubscription: Subscription = {
  stream: undefined,
  carriedAt: 0,
  isGap: false,
  attempt: 0,
  retryAt: undefined,
  failure: undefined,
};

/** Carried for this long, it was no failure: the count of failures restarts. */
const HEALTHY_MS = 5_000;

/** Whether a stream that is opened now requests it. */
export function isAsked({ retryAt, failure }: Subscription): boolean {
  return retryAt === undefined && failure === undefined;
}

/** The stream that requested it was accepted. */
export function attach(now: Subscription, stream: number, time: number): Subscription {
  return { ...now, stream, carriedAt: time, isGap: false };
}

/** The service ended this subscription, but not the stream. */
export function detach(
  now: Subscription,
  failure: Extract<RequestFailure, { kind: "refused" }>,
  moment: Moment,
  policy: ConnectionPolicy,
): Subscription {
  const { code, message, retryAfterMs = 0 } = failure;
  if (!isRetryable(failure.status)) {
    return { ...now, stream: undefined, failure: { reason: code, message } };
  }
  return waitLonger(now, moment, policy, retryAfterMs);
}

/**
 * Requests the thread again after a frame that did not fit the projection: at once the first time. A second misfit right after
 * that would repeat the next time too, so it waits for the backoff.
 */
export function resync(now: Subscription, moment: Moment, policy: ConnectionPolicy): Subscription {
  if (failuresOf(now, moment.now) === 0) return { ...now, stream: undefined, attempt: 1 };
  return waitLonger(now, moment, policy, 0);
}

function waitLonger(
  now: Subscription,
  { now: time, random }: Moment,
  policy: ConnectionPolicy,
  atLeastMs: number,
): Subscription {
  const attempt = failuresOf(now, time) + 1;
  const waitMs = Math.max(atLeastMs, backoffMs(attempt, random, policy));
  return { ...now, stream: undefined, attempt, retryAt: time + waitMs };
}

function failuresOf({ stream, carriedAt, attempt }: Subscription, time: number): number {
  return stream !== undefined && time - carriedAt >= HEALTHY_MS ? 0 : attempt;
}

/** The connection status of the subscription, for pages to show. */
export function statusOf(
  { failure, retryAt, attempt, isGap, stream }: Subscription,
  connection: Pick<Connection, "status">,
): ConnectionStatus {
  if (failure) return { kind: "failed", ...failure };
  if (connection.status.kind === "closed") return { kind: "connecting" };
  if (connection.status.kind !== "live") return connection.status;
  if (retryAt !== undefined) return { kind: "reconnecting", attempt, retryAt };
  if (stream === undefined) return { kind: "connecting" };
  return isGap ? { kind: "gap-repaired" } : connection.status;
}
