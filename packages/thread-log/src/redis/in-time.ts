import type { Clock } from "@throughline/ai-core";

/**
 * Rejects when the answer takes longer; what comes later is dropped. An answer that has come while this process was busy is
 * still taken: it is read after the timer, and before what the timer sets.
 */
export function inTime<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${ms} ms.`));
    const timer = clock.schedule(ms, () => void setImmediate(giveUp));
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
