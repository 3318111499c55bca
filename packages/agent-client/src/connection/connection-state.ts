/** The status of the connection, for pages to show. */
export type ConnectionStatus =
  | { readonly kind: "closed" }
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** Live; missed frames could not be replayed and were replaced by a snapshot. */
  | { readonly kind: "gap-repaired" }
  /** `retryAt: undefined`: as soon as the browser is online again. */
  | { readonly kind: "reconnecting"; readonly attempt: number; readonly retryAt: number | undefined }
  /** Not retried, because a retry would not help. `open` and `reconnect` try once more. */
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

export interface ConnectionPolicy {
  /** Wait before the first retry; doubled for each further one, up to the cap, then cut by up to half at random. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** The service sends something every 5 s, at least a heartbeat. Silent for this long, the connection counts as lost. */
  readonly silenceMs: number;
  /** After late timers (a hidden tab, a closed lid): the time in which data in the socket is read. */
  readonly graceMs: number;
}

export const DEFAULT_CONNECTION_POLICY: ConnectionPolicy = {
  firstRetryMs: 500,
  maxRetryMs: 30_000,
  silenceMs: 15_000,
  graceMs: 3_000,
};

export interface Connection {
  readonly status: ConnectionStatus;
  readonly isOnline: boolean;
  /** The current stream; inputs of others are late. */
  readonly stream: number | undefined;
  readonly streams: number;
  readonly openedAt: number;
  readonly receivedAt: number;
  /** Failures in a row. */
  readonly attempt: number;
  /** A refusal right after the credentials were renewed is final. */
  readonly renewed: boolean;
  readonly watchdogAt: number | undefined;
  /** The grace period after a late timer was granted, and nothing was received since. */
  readonly hadGrace: boolean;
  /** A live stream was replaced by another, which is not accepted yet. */
  readonly isReplacing: boolean;
}

export const closedConnection: Connection = {
  status: { kind: "closed" },
  isOnline: true,
  stream: undefined,
  streams: 0,
  openedAt: 0,
  receivedAt: 0,
  attempt: 0,
  renewed: false,
  watchdogAt: undefined,
  hadGrace: false,
  isReplacing: false,
};

export type RequestFailure =
  | { readonly kind: "network" }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number | undefined;
    };

export type ConnectionInput =
  | { readonly kind: "open" }
  /** The set of subscriptions changed: another stream replaces this one. */
  | { readonly kind: "replace" }
  | { readonly kind: "close" }
  /** A person asked to reconnect now, without the backoff or in spite of a refusal. */
  | { readonly kind: "reconnect" }
  /** The stream was accepted. */
  | { readonly kind: "opened"; readonly stream: number }
  /** Any bytes were received. */
  | { readonly kind: "received"; readonly stream: number }
  | { readonly kind: "ended"; readonly stream: number }
  | { readonly kind: "failed"; readonly stream: number; readonly failure: RequestFailure }
  | { readonly kind: "renewed"; readonly ok: boolean }
  | { readonly kind: "due"; readonly timer: TimerName }
  | { readonly kind: "online"; readonly isOnline: boolean }
  | { readonly kind: "visible" };

export type TimerName = "retry" | "watchdog";

export type ConnectionEffect =
  | { readonly kind: "open-stream"; readonly stream: number }
  | { readonly kind: "close-stream"; readonly stream: number }
  /** Requests new credentials. */
  | { readonly kind: "renew" }
  /** Sets the timer of a name; `at: undefined` clears it. */
  | { readonly kind: "timer"; readonly name: TimerName; readonly at: number | undefined }
  | { readonly kind: "reconnecting"; readonly attempt: number; readonly waitMs: number };

export type ConnectionStep = readonly [next: Connection, effects: readonly ConnectionEffect[]];

/** Time and randomness, as input of a transition. */
export interface Moment {
  readonly now: number;
  /** In [0, 1): spreads clients that lost the same server. */
  readonly random: number;
}

/** A stream that lived this long was no failure, so reconnecting counts as no retry. */
const HEALTHY_MS = 5_000;
/** Credentials that carried a stream for this long were valid: a refusal after that means that they expired. */
const ACCEPTED_MS = 1_000;
/** A timer this late was suspended: the page was hidden, or the machine slept. */
const LATE_MS = 2_000;
/** A stream that replaces a live one is accepted within milliseconds. One that takes longer is no longer shown as live. */
const REPLACE_MS = 1_000;

/** The state machine of the browser's one stream. The effect runner opens, closes, waits, and reports events as inputs. */
export function transitionConnection(
  now: Connection,
  input: ConnectionInput,
  moment: Moment,
  policy: ConnectionPolicy = DEFAULT_CONNECTION_POLICY,
): ConnectionStep {
  if ("stream" in input && input.stream !== now.stream) return [now, []];
  switch (input.kind) {
    case "open":
      return now.status.kind === "closed" || now.status.kind === "failed"
        ? open(now, moment, policy)
        : [now, []];
    case "replace":
      return replace(now, moment, policy);
    case "close":
      return close(now);
    case "reconnect":
      return now.status.kind === "closed"
        ? [now, []]
        : open({ ...now, attempt: 0, renewed: false }, moment, policy);
    case "opened":
      return received({ ...now, status: { kind: "live" }, openedAt: moment.now, isReplacing: false }, moment);
    case "received":
      // Reads within one millisecond count once.
      return now.receivedAt === moment.now && !now.hadGrace ? [now, []] : received(now, moment);
    case "ended":
      return scheduleReconnect(now, moment, policy);
    case "failed":
      return fail(now, input.failure, moment, policy);
    case "renewed":
      if (!isRenewing(now)) return [now, []];
      return input.ok
        ? open({ ...now, renewed: true }, moment, policy)
        : failPermanently(now, "unauthorized", SIGN_IN);
    case "due":
      if (input.timer === "watchdog") return watch(now, moment, policy);
      return now.status.kind === "reconnecting" ? open(now, moment, policy) : [now, []];
    case "online":
      return goOnline({ ...now, isOnline: input.isOnline }, moment, policy);
    case "visible":
      return onVisible(now, moment, policy);
  }
}

const SIGN_IN = "Sign in again.";
const RENEWABLE = 401;
/** Sent by the proxy in front of the service: the browser's credentials are valid, but of another person than the page's. */
export const SIGNED_IN_AS_OTHER = "signed_in_as_other";
const RETRYABLE = new Set([408, 425, 429]);

/** Whether the same request may succeed later. */
export function isRetryable(status: number): boolean {
  return status >= 500 || RETRYABLE.has(status);
}

function closing({ stream }: Connection): readonly ConnectionEffect[] {
  return stream === undefined ? [] : [{ kind: "close-stream", stream }];
}

/** Opens a stream. A request without a response is silence too: the watchdog runs from the start. */
function open(now: Connection, { now: time }: Moment, policy: ConnectionPolicy): ConnectionStep {
  const stream = now.streams + 1;
  const watchdogAt = time + policy.silenceMs;
  const next: Connection = {
    ...now,
    status: { kind: "connecting" },
    stream,
    streams: stream,
    openedAt: time,
    receivedAt: time,
    watchdogAt,
    hadGrace: false,
    isReplacing: false,
  };
  return [
    next,
    [...closing(now), timer("retry"), timer("watchdog", watchdogAt), { kind: "open-stream", stream }],
  ];
}

/** Opens another stream and stays live meanwhile: opening or closing one page must not show on the others. */
function replace(now: Connection, moment: Moment, policy: ConnectionPolicy): ConnectionStep {
  const [next, effects] = open(now, moment, policy);
  if (now.status.kind !== "live") return [next, effects];
  const [replacing, watched] = armWatchdog(next, moment.now + REPLACE_MS);
  return [{ ...replacing, status: now.status, isReplacing: true }, [...effects, ...watched]];
}

/** Whether new credentials are awaited; a result that comes at another time is late. */
function isRenewing({ status, stream }: Connection): boolean {
  return status.kind === "connecting" && stream === undefined;
}

function close(now: Connection): ConnectionStep {
  return [
    { ...closedConnection, streams: now.streams, isOnline: now.isOnline },
    [...closing(now), timer("retry"), timer("watchdog")],
  ];
}

function received(now: Connection, { now: time }: Moment): ConnectionStep {
  const age = time - now.openedAt;
  const next: Connection = {
    ...now,
    receivedAt: time,
    hadGrace: false,
    attempt: age >= HEALTHY_MS ? 0 : now.attempt,
    renewed: now.renewed && age < ACCEPTED_MS,
  };
  // One timer runs at a time and checks again when it fires: no timer is set per frame.
  return [next, []];
}

function armWatchdog(now: Connection, at: number): ConnectionStep {
  return [{ ...now, watchdogAt: at }, [timer("watchdog", at)]];
}

function watch(now: Connection, moment: Moment, policy: ConnectionPolicy): ConnectionStep {
  const due = now.watchdogAt;
  if (due === undefined || now.stream === undefined) return [now, []];
  const silentAt = now.receivedAt + policy.silenceMs;
  const shown: Connection = now.isReplacing
    ? { ...now, status: { kind: "connecting" }, isReplacing: false }
    : now;
  if (moment.now < silentAt) return armWatchdog(shown, silentAt);
  // While suspended, the page could not receive anything; data in the socket is read first.
  // Once: where every timer is late, a dead connection would otherwise be watched for ever.
  if (moment.now - due > LATE_MS && !now.hadGrace)
    return armWatchdog({ ...now, hadGrace: true }, moment.now + policy.graceMs);
  return scheduleReconnect({ ...now, watchdogAt: undefined }, moment, policy, { waitMs: 0 });
}

function onVisible(now: Connection, moment: Moment, policy: ConnectionPolicy): ConnectionStep {
  if (now.status.kind === "reconnecting" && now.isOnline) return open(now, moment, policy);
  if (now.stream === undefined || moment.now - now.receivedAt < policy.silenceMs) return [now, []];
  return armWatchdog(now, moment.now + policy.graceMs);
}

function goOnline(now: Connection, moment: Moment, policy: ConnectionPolicy): ConnectionStep {
  if (now.status.kind !== "reconnecting") return [now, []];
  if (now.isOnline) return open({ ...now, attempt: 0 }, moment, policy);
  return [{ ...now, status: { ...now.status, retryAt: undefined } }, [timer("retry")]];
}

function fail(
  now: Connection,
  failure: RequestFailure,
  moment: Moment,
  policy: ConnectionPolicy,
): ConnectionStep {
  if (failure.kind === "network") return scheduleReconnect(now, moment, policy);
  const { status, code, message, retryAfterMs } = failure;
  if (status === RENEWABLE && code !== SIGNED_IN_AS_OTHER && !now.renewed) {
    return [
      { ...now, stream: undefined, status: { kind: "connecting" }, watchdogAt: undefined },
      [timer("watchdog"), { kind: "renew" }],
    ];
  }
  if (isRetryable(status)) return scheduleReconnect(now, moment, policy, { atLeastMs: retryAfterMs });
  return failPermanently(now, code, message);
}

function failPermanently(now: Connection, reason: string, message: string): ConnectionStep {
  const [closed, effects] = close(now);
  return [{ ...closed, status: { kind: "failed", reason, message } }, effects];
}

/** Schedules another stream, now or after a backoff. One that had been healthy is replaced at once. */
function scheduleReconnect(
  now: Connection,
  { now: time, random }: Moment,
  policy: ConnectionPolicy,
  { waitMs, atLeastMs = 0 }: { readonly waitMs?: number; readonly atLeastMs?: number | undefined } = {},
): ConnectionStep {
  const wasHealthy = now.status.kind !== "connecting" && time - now.openedAt >= HEALTHY_MS;
  const attempt = wasHealthy ? 0 : now.attempt + 1;
  const backoff = attempt === 0 ? 0 : backoffMs(attempt, random, policy);
  const wait = Math.max(waitMs ?? backoff, atLeastMs);
  const retryAt = now.isOnline ? time + wait : undefined;
  return [
    {
      ...now,
      stream: undefined,
      watchdogAt: undefined,
      attempt,
      status: { kind: "reconnecting", attempt, retryAt },
    },
    [
      ...closing(now),
      timer("watchdog"),
      timer("retry", retryAt),
      { kind: "reconnecting", attempt, waitMs: wait },
    ],
  ];
}

export function backoffMs(
  attempt: number,
  random: number,
  { firstRetryMs, maxRetryMs }: ConnectionPolicy,
): number {
  const full = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempt - 1));
  return Math.round(full * (1 - random / 2));
}

/** Sets a timer; without `at`, clears it. */
function timer(name: TimerName, at?: number): ConnectionEffect {
  return { kind: "timer", name, at };
}
