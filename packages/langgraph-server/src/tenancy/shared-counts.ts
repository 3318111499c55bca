/** What is taken by the minute. */
export type Meter = "starts" | "bodies";

export interface Take {
  readonly perMinute: number;
  readonly amount: number;
  /** How much must be left for anything to be taken. Absent: it is taken in any case, and the next one waits for longer. */
  readonly need?: number;
}

/**
 * What accounts use on all instances together. `undefined` says that the others can't be asked right now: then each instance
 * counts for itself.
 */
export interface SharedCounts {
  /** 0 when it was taken, else how many milliseconds from now it may be. */
  take(meter: Meter, account: string, take: Take): Promise<number | undefined>;
  /** Whether there is room for that many watchers here, beside those of other instances. */
  watch(account: string, here: number, max: number): Promise<boolean | undefined>;
  /** A watcher has left, or was not let in: this many are here now. */
  watching(account: string, here: number): void;
  close(): void;
}
