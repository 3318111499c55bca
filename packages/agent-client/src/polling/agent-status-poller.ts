import type { Clock } from "@throughline/ai-core";
import { createNamedTimers } from "../client/environment.js";

export interface PollPolicy {
  /** From one answer to the next question, give or take `jitter` of it. */
  readonly everyMs: number;
  readonly jitter: number;
  /** After failures the pause doubles, up to this. */
  readonly maxPauseMs: number;
  /** A question that is not answered by then counts as failed, and may be asked again. */
  readonly answerMs: number;
}

export const DEFAULT_POLL_POLICY: PollPolicy = {
  everyMs: 10_000,
  jitter: 0.2,
  maxPauseMs: 120_000,
  answerMs: 15_000,
};

/** One agent's thread, as the sidebar knows it. */
interface Polled {
  readonly key: string;
  /** When to ask, or, while asked, when to give up on the answer. */
  readonly dueAt: number;
  /** Names the poll under way; a late answer to an older one is dropped. */
  readonly question: number | undefined;
  readonly failures: number;
}

export interface Poller {
  readonly polled: readonly Polled[];
  /** The thread whose page is open: its stream says more than any poll (docs/requirements.md#client-5). */
  readonly open: ReadonlySet<string>;
  readonly isPaused: boolean;
  readonly questions: number;
}

export const idlePoller: Poller = { polled: [], open: new Set(), isPaused: false, questions: 0 };

export type PollerInput =
  /** These, and no others, are to be known. */
  | { readonly kind: "watch"; readonly keys: readonly string[] }
  /** Pages that are open have their own stream. */
  | { readonly kind: "open"; readonly keys: readonly string[] }
  | { readonly kind: "answered"; readonly key: string; readonly question: number; readonly ok: boolean }
  /** Hidden or offline. */
  | { readonly kind: "paused"; readonly isPaused: boolean }
  | { readonly kind: "due" };

export type PollerEffect =
  | { readonly kind: "poll"; readonly key: string; readonly question: number }
  /** The next moment anything is due; `undefined`: never. */
  | { readonly kind: "timer"; readonly at: number | undefined };

export type PollerStep = readonly [next: Poller, effects: readonly PollerEffect[]];

/** docs/requirements.md#client-4: one-shot questions, one at a time for each agent, and never a stream that stays. */
export function stepPoller(
  now: Poller,
  input: PollerInput,
  moment: { readonly now: number; readonly random: () => number },
  policy: PollPolicy = DEFAULT_POLL_POLICY,
): PollerStep {
  switch (input.kind) {
    case "watch":
      return askDue({ ...now, polled: watched(now.polled, input.keys, moment.now) }, moment, policy);
    case "open": {
      const open = new Set(input.keys);
      // What a page showed until now may be old by the next round: a thread that was closed is polled at once.
      const polled = now.polled.map((one) =>
        now.open.has(one.key) && !open.has(one.key) ? askNow(one, moment.now) : one,
      );
      return askDue({ ...now, open, polled }, moment, policy);
    }
    case "answered":
      return askDue(
        {
          ...now,
          polled: now.polled.map((one) =>
            one.key === input.key && one.question === input.question
              ? rest(one, input.ok, moment, policy)
              : one,
          ),
        },
        moment,
        policy,
      );
    case "paused":
      return askDue(
        { ...now, isPaused: input.isPaused, polled: now.polled.map((one) => revive(one, moment.now)) },
        moment,
        policy,
      );
    case "due":
      return askDue(now, moment, policy);
  }
}

function watched(polled: readonly Polled[], keys: readonly string[], time: number): readonly Polled[] {
  const known = new Map(polled.map((one) => [one.key, one]));
  return [...new Set(keys)].map(
    (key) => known.get(key) ?? { key, dueAt: time, question: undefined, failures: 0 },
  );
}

function isUnderWay({ question, dueAt }: Polled, time: number): boolean {
  return question !== undefined && dueAt > time;
}

function askNow(one: Polled, time: number): Polled {
  return isUnderWay(one, time) ? one : { ...one, dueAt: time, question: undefined };
}

/** A poll that the machine slept through is repeated, not counted as failed. */
function revive(one: Polled, time: number): Polled {
  return one.question === undefined ? one : askNow(one, time);
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
  return { ...one, failures, question: undefined, dueAt: time + Math.round(pause * spread) };
}

/** Asks all that are due, and says when to look again. */
function askDue(
  now: Poller,
  moment: { readonly now: number; readonly random: () => number },
  policy: PollPolicy,
): PollerStep {
  if (now.isPaused) return [now, [{ kind: "timer", at: undefined }]];
  const effects: PollerEffect[] = [];
  let { questions } = now;
  const polled = now.polled.map((one) => {
    if (now.open.has(one.key) || one.dueAt > moment.now) return one;
    if (one.question !== undefined) return rest(one, false, moment, policy);
    questions += 1;
    effects.push({ kind: "poll", key: one.key, question: questions });
    return { ...one, question: questions, dueAt: moment.now + policy.answerMs };
  });
  const next = polled.filter((one) => !now.open.has(one.key)).map((one) => one.dueAt);
  const at = next.length === 0 ? undefined : Math.min(...next);
  return [{ ...now, polled, questions }, [...effects, { kind: "timer", at }]];
}

export interface PollShell {
  tell(input: Exclude<PollerInput, { kind: "answered" | "due" }>): void;
  close(): void;
}

export interface PollShellOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: Partial<PollPolicy> | undefined;
  readonly poll: (key: string) => Promise<boolean>;
}

/** Asks now and then how threads stand whose page is not open: performs what the poller decides. */
export function pollThreads(options: PollShellOptions): PollShell {
  const { clock, random } = options;
  const policy = { ...DEFAULT_POLL_POLICY, ...options.policy };
  let poller: Poller = idlePoller;
  let closed = false;
  const timers = createNamedTimers<"poll">(clock, () => step({ kind: "due" }));

  function step(input: PollerInput): void {
    if (closed) return;
    const [next, effects] = stepPoller(poller, input, { now: clock.now(), random }, policy);
    poller = next;
    for (const effect of effects) {
      if (effect.kind === "timer") timers.set("poll", effect.at && effect.at - clock.now());
      else void ask(effect.key, effect.question);
    }
  }

  async function ask(key: string, question: number): Promise<void> {
    const ok = await options.poll(key);
    step({ kind: "answered", key, question, ok });
  }

  return {
    tell: step,
    close() {
      closed = true;
      timers.clearAll();
    },
  };
}
