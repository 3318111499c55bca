import { isRunning } from "./postmaster.js";

export interface KeepRunning {
  readonly pid: number;
  /** Starts the server again, and gives its new pid. */
  readonly restart: () => Promise<number>;
  readonly log: (line: string) => void;
}

export interface KeptServer {
  pid(): number;
  /** Looks after it no longer; back when a restart that is under way is over. */
  letGo(): Promise<void>;
}

const LOOK_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Looks every second whether the server runs, and starts it again when it was killed: by a machine that ran out of memory, or by
 * a person. What was committed is recovered by the server itself. After a restart that failed, the next one waits longer.
 */
export function keepRunning({ pid, restart, log }: KeepRunning): KeptServer {
  let current = pid;
  let pauseMs = LOOK_MS;
  let isLetGo = false;
  let restarting: Promise<void> = Promise.resolve();
  let timer = lookIn(LOOK_MS);

  function lookIn(ms: number): NodeJS.Timeout {
    const next = setTimeout(() => {
      if (isRunning(current)) timer = lookIn(LOOK_MS);
      else restarting = startAgain();
    }, ms);
    return next.unref();
  }

  async function startAgain(): Promise<void> {
    try {
      log(`PostgreSQL (process ${current}) has ended; starting it again.`);
      current = await restart();
      pauseMs = LOOK_MS;
    } catch (error) {
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      const reason = error instanceof Error ? error.message : String(error);
      log(`PostgreSQL can't be started again: ${reason}. Trying once more in ${pauseMs / 1_000} s.`);
    }
    if (!isLetGo) timer = lookIn(pauseMs);
  }

  return {
    pid: () => current,
    letGo() {
      isLetGo = true;
      clearTimeout(timer);
      return restarting;
    },
  };
}
