/** R17: proof that its holder may write a thread's log and checkpoints. A higher token wins for ever. */
export interface Fence {
  readonly threadId: string;
  readonly runId: string;
  readonly token: bigint;
}

export interface LeasePort {
  /** Resolves while the fence is the newest of its thread; otherwise throws a `conflict`. Asked before every checkpoint write. */
  assertHeld(fence: Fence): Promise<void>;
}
