/** R31: the right to follow one upstream run that nobody here started. One instance at a time holds it. */
export interface ForeignRunClaim {
  /** Fires when the claim was lost, for example because this instance looked dead. */
  readonly lost: AbortSignal;
  /** The run is in the log for good: nobody claims it again. */
  finish(): Promise<void>;
  /** Gives the run up before its end: another instance may take it. */
  release(): Promise<void>;
}

export interface ForeignRunClaimPort {
  /** `undefined` while another instance follows the run, and once somebody has followed it to its end. */
  claim(threadId: string, upstreamRunId: string): Promise<ForeignRunClaim | undefined>;
}
