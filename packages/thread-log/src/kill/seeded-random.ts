export interface SeededRandom {
  readonly seed: number;
  /** From 0 to `bound - 1`. */
  below(bound: number): number;
}

/** The trials' choices can be made again from the seed they print; the moments they hit can't. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  return {
    seed,
    below(bound) {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
    },
  };
}
