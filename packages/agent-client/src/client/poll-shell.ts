import type { Clock } from "@throughline/ai-core";
import {
  DEFAULT_POLL_POLICY,
  idlePoller,
  type Poller,
  type PollerInput,
  type PollPolicy,
  stepPoller,
} from "../poller/poller.js";
import { createNamedTimers } from "./named-timers.js";

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
