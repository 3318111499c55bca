// @ts-check

/**
 * Runs every item once the items it depends on have finished, at most `limit` at a time, and gives the results in the
 * order of `items`. After the first rejection nothing new starts, what runs is awaited, then the rejection is thrown.
 *
 * @template Item, Result
 * @param {{
 *   items: readonly Item[];
 *   limit: number;
 *   nameOf: (item: Item) => string;
 *   dependsOn?: (item: Item) => readonly string[];
 *   run: (item: Item) => Promise<Result>;
 * }} plan
 * @returns {Promise<Result[]>}
 */
export async function runInOrder({ items, limit, nameOf, dependsOn = () => [], run }) {
  const known = new Set(items.map(nameOf));
  const finished = new Set();
  const waiting = new Set(items);
  /** @type {Map<Item, Result>} */
  const results = new Map();
  /** @type {Set<Promise<void>>} */
  const running = new Set();
  /** @type {{ error: unknown } | undefined} */
  let failure;

  const isReady = (/** @type {Item} */ item) =>
    dependsOn(item).every((name) => finished.has(name) || !known.has(name));

  const start = (/** @type {Item} */ item) => {
    waiting.delete(item);
    const task = run(item)
      .then(
        (result) => {
          results.set(item, result);
          finished.add(nameOf(item));
        },
        (error) => {
          failure ??= { error };
        },
      )
      .finally(() => running.delete(task));
    running.add(task);
  };

  while (waiting.size > 0 || running.size > 0) {
    if (!failure) {
      for (const item of [...waiting].filter(isReady).slice(0, limit - running.size)) start(item);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }

  if (failure) throw failure.error;
  if (waiting.size > 0) {
    throw new Error(`These depend on each other in a circle: ${[...waiting].map(nameOf).join(", ")}`);
  }
  return items.flatMap((item) => {
    const result = results.get(item);
    return result === undefined ? [] : [result];
  });
}
