import type { Fence } from "@throughline/ai-core";

/** What a driver is told of its lease. Each is called at most once, and nothing after `lost` or `expired`. */
export interface LeaseListener {
  /** Another fence holds the run: abort the graph, write nothing more. */
  lost(): void;
  /**
   * By our own clock the lease may be over, and another instance may drive the run by now: abort the graph, write nothing
   * more. Comes before the lease is over by the store's clock.
   */
  expired(): void;
  /** The run was asked to stop. */
  stop(): void;
}

export interface LeaseHealth {
  readonly ok: boolean;
  /** For operators: why it is not. */
  readonly reason?: string;
}

/** Renews leases until told otherwise. The PostgreSQL one runs in a worker thread, so a CPU-bound node does not look dead (R17). */
export interface LeaseKeeper {
  /** Returns what ends the keeping, without giving up the lease. */
  keep(fence: Fence, listener: LeaseListener): () => void;
  /** Whether leases are being renewed: an instance that can't renew them should get no runs. */
  healthy(): LeaseHealth;
  close(): Promise<void>;
}
