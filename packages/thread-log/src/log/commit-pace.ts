/** A commit that takes longer than its work and this mostly waits, for a disk or a network. */
const SLOW_MS = 2;
/** What an append of one thread costs the store and us, roughly. */
const WORK_MS_PER_THREAD = 0.02;
/** A commit that takes longer than this does not keep others waiting. */
const STUCK_MS = 50;
/** So many threads are worth a second commit: what the store does for one half, we prepare meanwhile of the other. */
const WORTH_TWO = 96;
/** How many commits in a row must be slow. Where it is a CPU that is short, one of so many is quick. */
const WINDOW = 128;

export interface CommitPace {
  /** Whether another commit may begin beside these, for so many threads that wait. */
  mayBegin(underWay: Iterable<{ readonly startedAt: number }>, now: number, waiting: number): boolean;
  took(ms: number, threads: number): void;
}

/**
 * Says how many commits are sent at once. A store that answers at once is best served one commit at a time, each with all that
 * came meanwhile: several small ones cost it and us up to twice the work. A store that is slow to answer, whatever a commit
 * carries, is sent several at once, so that an append does not wait for a commit that it is not part of.
 */
export function createCommitPace(committers: number): CommitPace {
  /** The shortest wait of the last whole window, and of the present one. */
  let before = 0;
  let shortest = Number.POSITIVE_INFINITY;
  let count = 0;

  return {
    mayBegin(underWay, now, waiting) {
      let sent = 0;
      let recentlySent = 0;
      for (const { startedAt } of underWay) {
        sent += 1;
        if (now - startedAt < STUCK_MS) recentlySent += 1;
      }
      const isSlow = Math.min(before, shortest) >= SLOW_MS;
      const isWorthTwo = sent === 1 && waiting >= WORTH_TWO;
      return sent < committers && (recentlySent === 0 || isSlow || isWorthTwo);
    },
    took(ms, threads) {
      shortest = Math.min(shortest, ms - threads * WORK_MS_PER_THREAD);
      count += 1;
      if (count < WINDOW) return;
      before = shortest;
      shortest = Number.POSITIVE_INFINITY;
      count = 0;
    },
  };
}
