/** R17: proof that its holder may write a thread's log and checkpoints. A higher token wins for ever. */
export interface Fence {
  readonly threadId: string;
  readonly runId: string;
  readonly token: bigint;
}

export interface LeasePort {
  /** Resolves while the fence is the newest of its thread; otherwise throws a `conflict`. For stores that can't use `heldQuery`. */
  assertHeld(fence: Fence): Promise<void>;
  /**
   * For stores in the registry's own database: a query that gives one row while the fence is held, and none otherwise. Its
   * two parameters are `$first` (the run's id, text) and `$first + 1` (the token, bigint). As part of a write it makes the
   * fence a condition of that write: the row is locked until the write commits, so that no takeover can come between.
   */
  readonly heldQuery?: ((first: number) => string) | undefined;
}
