const MOST_MS = 120_000;

/** Counts lags by the millisecond, so that half an hour of them costs no more memory than a minute. */
export function createLagHistogram() {
  const counts = new Uint32Array(MOST_MS + 1);
  let total = 0;
  let max = 0;

  /** The smallest lag that this share of all lags does not exceed. */
  function percentile(percent) {
    const wanted = Math.ceil((total * percent) / 100);
    let seen = 0;
    for (let ms = 0; ms <= max; ms++) {
      seen += counts[ms];
      if (seen >= wanted) return ms;
    }
    return max;
  }

  return {
    /** Clocks are read in whole milliseconds, by two processes: a receipt can't be before what it receives. */
    add(lagMs) {
      const ms = Math.min(MOST_MS, Math.max(0, Math.round(lagMs)));
      counts[ms]++;
      total++;
      if (ms > max) max = ms;
    },
    summary: () =>
      total === 0 ? undefined : { count: total, p50: percentile(50), p99: percentile(99), max },
  };
}
