// @ts-check

/**
 * Counts restarts: at most `max` within any `perMs`. What keeps ending right after its start is not started for ever.
 *
 * @param {{ max: number; perMs: number; now?: () => number }} limits
 */
export function createRestartBudget({ max, perMs, now = () => performance.now() }) {
  /** @type {number[]} */
  let spent = [];
  return {
    /** @returns {boolean} whether one more restart is allowed, which is then spent */
    take() {
      const at = now();
      spent = spent.filter((time) => at - time < perMs);
      if (spent.length >= max) return false;
      spent.push(at);
      return true;
    },
  };
}
