import type { Clock } from "@throughline/ai-core";
import { createNamedTimers } from "../client/environment.js";

export interface PollPolicy {
  /** From one response to the next poll, plus or minus `jitter` of it. */
  readonly everyMs: number;
  readonly jitter: number;
  /** After failures the pause doubles, up to this. */
  readonly maxPauseMs: number;
  /** A poll without a response by then counts as failed, and may be repeated. */
  readonly answerMs: number;
}

export const DEFAULT_POLL_POLICY: PollPolicy = {
  everyMs: 10_000,
  jitter: 0.2,
  maxPauseMs: 120_000,
  answerMs: 15_000,
};

/** A polled thread: that of one agent in the sidebar. */
interface Polled {
  readonly key: string;
  /** When to poll, or, while a poll is under way, when it times out. */
  readonly dueAt: number;
  /** The id of the poll under way; a late response to an older one is dropped. */
  readonly pollId: number | undefined;
  readonly failures: number;
}

export interface Poller {
  readonly polled: readonly Polled[];
  /** The threads whose page is open: their stream delivers more than any poll (docs/requirements.md#client-5). */
  readonly open: ReadonlySet<string>;
  readonly isPaused: boolean;
  readonly polls: number;
}

export const idlePoller: Poller = { polled: [], open: new Set(), isPaused: false, polls: 0 };

export type PollerInput =
  /** Sets the threads to poll. */
  | { readonly kind: "watch"; readonly keys: readonly string[] }
  /** Pages that are open have their own stream. */
  | { readonly kind: "open"; readonly keys: readonly string[] }
  | { readonly kind: "answered"; readonly key: string; readonly pollId: number; readonly ok: boolean }
  /** Hidden or offline. */
  | { readonly kind: "paused"; readonly isPaused: boolean }
  | { readonly kind: "due" };

export type PollerEffect =
  | { readonly kind: "poll"; readonly key: string; readonly pollId: number }
  /** The next moment anything is due; `undefined`: never. */
  | { readonly kind: "timer"; readonly at: number | undefined };

export type PollerStep = readonly [next: Poller, effects: readonly PollerEffect[]];

/** State machine of polling (docs/requirements.md#client-4): one-shot requests, one per agent at a time, never a lasting stream. */
export function transitionPoller(
  now: Poller,
  input: PollerInput,
  moment: { readonly now: number; readonly random: () => number },
  policy: PollPolicy = DEFAULT_POLL_POLICY,
): PollerStep {
  switch (input.kind) {
    case "watch":
      return pollDue({ ...now, polled: watched(now.polled, input.keys, moment.now) }, moment, policy);
    case "open": {
      const open = new Set(input.keys);
      // The view of a closed page may be outdated by the next poll: its thread is polled at once.
      const polled = now.polled.map((one) =>
        now.open.has(one.key) && !open.has(one.key) ? pollNow(one, moment.now) : one,
      );
      return pollDue({ ...now, open, polled }, moment, policy);
    }
    case "answered":
      return pollDue(
        {
          ...now,
          polled: now.polled.map((one) =>
            one.key === input.key && one.pollId === input.pollId ? rest(one, input.ok, moment, policy) : one,
          ),
        },
        moment,
        policy,
      );
    case "paused":
      return pollDue(
        { ...now, isPaused: input.isPaused, polled: now.polled.map((one) => revive(one, moment.now)) },
        moment,
        policy,
      );
    case "due":
      return pollDue(now, moment, policy);
  }
}

function watched(polled: readonly Polled[], keys: readonly string[], time: number): readonly Polled[] {
  const known = new Map(polled.map((one) => [one.key, one]));
  return [...new Set(keys)].map(
    (key) => known.get(key) ?? { key, dueAt: time, pollId: undefined, failures: 0 },
  );
}

function isUnderWay({ pollId, dueAt }: Polled, time: number): boolean {
  return pollId !== undefined && dueAt > time;
}

function pollNow(one: Polled, time: number): Polled {
  return isUnderWay(one, time) ? one : { ...one, dueAt: time, pollId: undefined };
}

/** A poll that the machine slept through is repeated, not counted as failed. */
function revive(one: Polled, time: number): Polled {
  return one.pollId === undefined ? one : pollNow(one, time);
}

function rest(
  one: Polled,
  ok: boolean,
  { now: time, random }: { readonly now: number; readonly random: () => number },
  policy: PollPolicy,
): Polled {
  const failures = ok ? 0 : one.failures + 1;
  const pause = Math.min(policy.maxPauseMs, policy.everyMs * 2 ** failures);
  const spread = 1 - policy.jitter + 2 * policy.jitter * random();
  return { ...one, failures, pollId: undefined, dueAt: time + Math.round(pause * spread) };
}

/** Starts all polls that are due, and sets the timer for the next. */
function pollDue(
  now: Poller,
  moment: { readonly now: number; readonly random: () => number },
  policy: PollPolicy,
): PollerStep {
  if (now.isPaused) return [now, [{ kind: "timer", at: undefined }]];
  const effects: PollerEffect[] = [];
  let { polls } = now;
  const polled = now.polled.map((one) => {
    if (now.open.has(one.key) || one.dueAt > moment.now) return one;
    if (one.pollId !== undefined) return rest(one, false, moment, policy);
    polls += 1;
    effects.push({ kind: "poll", key: one.key, pollId: polls });
    return { ...one, pollId: polls, dueAt: moment.now + policy.answerMs };
  });
  const next = polled.filter((one) => !now.open.has(one.key)).map((one) => one.dueAt);
  const at = next.length === 0 ? undefined : Math.min(...next);
  return [{ ...now, polled, polls }, [...effects, { kind: "timer", at }]];
}

export interface AgentStatusPoller {
  update(input: Exclude<PollerInput, { kind: "answered" | "due" }>): void;
  close(): void;
}

export interface AgentStatusPollerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: Partial<PollPolicy> | undefined;
  readonly poll: (key: string) => Promise<boolean>;
}

/** Polls the status of threads whose page is not open: runs the effects of the poller. */
export function statusPolling(options: AgentStatusPollerOptions): AgentStatusPoller {
  const { clock, random } = options;
  const policy = { ...DEFAULT_POLL_POLICY, ...options.policy };
  let poller: Poller = idlePoller;
  let closed = false;
  const timers = createNamedTimers<"poll">(clock, () => step({ kind: "due" }));

  function step(input: PollerInput): void {
    if (closed) return;
    const [next, effects] = transitionPoller(poller, input, { now: clock.now(), random }, policy);
    poller = next;
    for (const effect of effects) {
      if (effect.kind === "timer") timers.set("poll", effect.at && effect.at - clock.now());
      else void poll(effect.key, effect.pollId);
    }
  }

  async function poll(key: string, pollId: number): Promise<void> {
    const ok = await options.poll(key);
    step({ kind: "answered", key, pollId, ok });
  }

  return {
    update: step,
    close() {
      closed = true;
      timers.clearAll();
    },
  };
}
