import type { Clock } from "@throughline/ai-core";

/** Written out here: ai-core's own would bring its schemas into every page. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};
