import type { Clock } from "@throughline/ai-core";
import { idlePoller, type Poller, type PollerInput, type PollPolicy, stepPoller } from "../poller/poller.js";
import { createNamedTimers } from "./named-timers.js";

export interface PollShell {
  tell(input: Exclude<PollerInput, { kind: "answered" | "due" }>): void;
  close(): void;
}

/** Performs what the poller decides. */
export function createPollShell(options: {
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: PollPolicy;
  readonly poll: (key: string) => Promise<boolean>;
}): PollShell {
  const { clock, random, policy } = options;
  let poller: Poller = idlePoller;
  const timers = createNamedTimers<"poll">(clock, () => step({ kind: "due" }));

  function step(input: PollerInput): void {
    const [next, effects] = stepPoller(poller, input, { now: clock.now(), random }, policy);
    poller = next;
    for (const effect of effects) {
      if (effect.kind === "timer")
        timers.set("poll", effect.at === undefined ? undefined : effect.at - clock.now());
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
      step({ kind: "watch", keys: [] });
      timers.clearAll();
    },
  };
}
