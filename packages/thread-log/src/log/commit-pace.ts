/** A commit that takes longer than this mostly waits, for a disk or a network: another at the same time costs little. */
const SLOW_MS = 2;
/** One that takes longer than this does not keep others waiting. */
const STUCK_MS = 50;
/** How many commits the judgement is made from. */
const REMEMBERED = 32;

export interface CommitPace {
  /** Whether another commit may begin beside these. */
  mayBegin(underWay: Iterable<{ readonly startedAt: number }>, now: number): boolean;
  took(ms: number): void;
}

/**
 * Says how many commits are sent at once. A store that answers at once is best served one commit at a time, each with all that
 * came meanwhile: several small ones cost it and us up to twice the work. A store that is slow to answer, whatever a commit
 * carries, is sent several at once, so that an append does not wait for a commit that it is not part of.
 */
export function createCommitPace(committers: number): CommitPace {
  const recent: number[] = [];
  let next = 0;
  let isSlow = false;
  return {
    mayBegin(underWay, now) {
      let count = 0;
      let recentlyBegun = 0;
      for (const { startedAt } of underWay) {
        count += 1;
        if (now - startedAt < STUCK_MS) recentlyBegun += 1;
      }
      return recentlyBegun === 0 ? count < committers : isSlow && count < committers;
    },
    took(ms) {
      recent[next] = ms;
      next = (next + 1) % REMEMBERED;
      isSlow = recent.length === REMEMBERED && Math.min(...recent) >= SLOW_MS;
    },
  };
}
