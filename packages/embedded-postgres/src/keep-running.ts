import { isRunning } from "./postmaster.js";

export interface KeepRunning {
  readonly pid: number;
  /** Starts the server again and returns its new pid. */
  readonly restart: () => Promise<number>;
  readonly log: (line: string) => void;
}

/** The supervision of one server. */
export interface Supervision {
  pid(): number;
  /** Ends the supervision. Resolves when a restart in progress is over. */
  release(): Promise<void>;
}

const CHECK_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Polls every second whether the server runs, and starts it again when it was killed: by a machine that ran out of memory, or
 * by a person. The server itself recovers what was committed. Failed restarts are retried with backoff.
 */
export function keepRunning({ pid, restart, log }: KeepRunning): Supervision {
  let current = pid;
  let pauseMs = CHECK_MS;
  let isReleased = false;
  let restarting: Promise<void> = Promise.resolve();
  let timer = checkIn(CHECK_MS);

  function checkIn(ms: number): NodeJS.Timeout {
    const next = setTimeout(() => {
      if (isRunning(current)) timer = checkIn(CHECK_MS);
      else restarting = startAgain();
    }, ms);
    return next.unref();
  }

  async function startAgain(): Promise<void> {
    try {
      log(`PostgreSQL (process ${current}) has ended; starting it again.`);
      current = await restart();
      pauseMs = CHECK_MS;
    } catch (error) {
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      const reason = error instanceof Error ? error.message : String(error);
      log(`PostgreSQL can't be started again: ${reason}. Trying once more in ${pauseMs / 1_000} s.`);
    }
    if (!isReleased) timer = checkIn(pauseMs);
  }

  return {
    pid: () => current,
    release() {
      isReleased = true;
      clearTimeout(timer);
      return restarting;
    },
  };
}
