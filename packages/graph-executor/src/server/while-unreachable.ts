import type { Clock } from "@throughline/ai-core";
import { pause } from "./pause.js";
import { isUnreachable } from "./upstream-failure.js";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Repeats while there is no answer, within the bound; only for requests that may be repeated. */
export async function whileUnreachable<T>(
  request: () => Promise<T>,
  { clock, boundMs }: { readonly clock: Clock; readonly boundMs: number },
): Promise<T> {
  const deadline = clock.now() + boundMs;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    try {
      return await request();
    } catch (error) {
      if (!isUnreachable(error) || clock.now() + wait >= deadline) throw error;
      await pause(clock, wait);
    }
  }
}
