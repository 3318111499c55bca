import { type Clock, ThroughlineError } from "@throughline/ai-core";

export interface RetryOptions {
  readonly clock: Clock;
  readonly isTransient: (error: unknown) => boolean;
  /** Gives up with the last error once this much time went by. */
  readonly giveUpAfterMs: number;
}

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 1_000;

/** Tries again while the failure may pass; what is tried must be safe to repeat. */
export async function retryTransient<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  const { clock, isTransient, giveUpAfterMs } = options;
  const startedAt = clock.now();
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      // What we throw on purpose is an answer, not an accident.
      const passes = !(error instanceof ThroughlineError) && isTransient(error);
      if (!passes || clock.now() - startedAt + delay > giveUpAfterMs) throw error;
      await new Promise<void>((resolve) => void clock.schedule(delay, resolve));
    }
  }
}
