import type { Clock } from "@throughline/ai-core";

/** Rejects when the answer takes longer. What comes later is dropped. */
export function inTime<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(ms, () => reject(new Error(`Redis did not answer within ${ms} ms.`)));
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
