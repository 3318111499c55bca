import {
  backoffMs,
  type Connection,
  type ConnectionPolicy,
  type ConnectionStatus,
  isPassing,
  type Moment,
  type StreamFailure,
} from "./connection-state.js";

/** One of the threads that the browser's stream carries, beside what the stream itself is. */
export interface Subscription {
  /** The stream that carries it. */
  readonly stream: number | undefined;
  readonly carriedAt: number;
  /** Asked to go on, the service told everything instead. */
  readonly isGap: boolean;
  /** Failures in a row of this one alone. */
  readonly attempt: number;
  /** When it is asked for again, after a failure that passes. */
  readonly retryAt: number | undefined;
  /** Asking again by itself would not help. */
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

/** Carried for so long, it was no failure: the next one is the first again. */
const HEALTHY_MS = 5_000;

/** Whether a stream that is opened now is asked to carry it. */
export function isAsked({ retryAt, failure }: Subscription): boolean {
  return retryAt === undefined && failure === undefined;
}

/** A stream that was asked to carry it was accepted. */
export function carry(now: Subscription, stream: number, time: number): Subscription {
  return { ...now, stream, carriedAt: time, isGap: false };
}

/** The service ended it, and not the stream. */
export function endOne(
  now: Subscription,
  failure: Extract<StreamFailure, { kind: "refused" }>,
  moment: Moment,
  policy: ConnectionPolicy,
): Subscription {
  const { code, message, retryAfterMs = 0 } = failure;
  if (!isPassing(failure.status)) {
    return { ...now, stream: undefined, failure: { reason: code, message } };
  }
  return waitLonger(now, moment, policy, retryAfterMs);
}

/**
 * What came does not fit what is held: it is asked for anew, at once. What does not fit again right after that would not fit
 * the next time either, and waits.
 */
export function startOver(now: Subscription, moment: Moment, policy: ConnectionPolicy): Subscription {
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

/** What a page is told of it. */
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
