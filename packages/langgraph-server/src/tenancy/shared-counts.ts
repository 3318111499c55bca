/** What is taken by the minute. */
export type Meter = "starts" | "bodies";

export interface Take {
  readonly perMinute: number;
  readonly amount: number;
  /** How much must be left for anything to be taken. Absent: it is taken in any case, and the next one waits for longer. */
  readonly need?: number;
}

/** What is held for a while, then given back. */
export type Held = "watchers" | "exports";

/**
 * What accounts use on all instances together. `undefined` says that the others can't be asked right now: then each instance
 * counts for itself.
 */
export interface SharedCounts {
  /** 0 when it was taken, else how many milliseconds from now it may be. */
  take(meter: Meter, account: string, take: Take): Promise<number | undefined>;
  /** Whether there is room for that many here, beside those of other instances. */
  hold(what: Held, account: string, here: number, max: number): Promise<boolean | undefined>;
  /** One was given back, or was not let in: this many are here now. */
  holding(what: Held, account: string, here: number): void;
  close(): void;
}
