import type { Clock } from "@throughline/ai-core";

/**
 * Hands items on at most every `everyMs`: the first after a pause at once, and what comes within `everyMs` of it together. Each time
 * wakes a process at the other end, which costs more than what it is handed.
 */
export function createGather<Item>(
  clock: Clock,
  everyMs: number,
  handOn: (items: readonly Item[]) => void,
): (items: readonly Item[]) => void {
  let waiting: Item[] = [];
  let isPausing = false;

  function next(): void {
    const items = waiting;
    waiting = [];
    isPausing = items.length > 0;
    if (!isPausing) return;
    clock.schedule(everyMs, next);
    handOn(items);
  }

  return (items) => {
    for (const item of items) waiting.push(item);
    if (!isPausing) next();
  };
}
