import { setTimeout as pause } from "node:timers/promises";

/** A restarted LiteLLM takes half a minute, on a busy machine more. */
export const PATIENCE = { timeout: 240_000, interval: 500 };

/** Polls a condition: `expect.poll` is for tests alone, and containers are started before them. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE.timeout;
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`After ${PATIENCE.timeout / 1_000} s it is not true that ${what}.`);
    await pause(PATIENCE.interval);
  }
}
