import type { Dialect } from "../context/run-context.js";
import type { GraphFinal, UpstreamChunk } from "./graph-executor.js";
import type { GraphCheckpoint } from "./graph-state.js";

/** Identifies an external run on a thread of ours, by the upstream's own ids. */
export interface ExternalRunName {
  readonly threadId: string;
  readonly upstreamRunId: string;
  /** `events` where its starter requested events and not tokens. Default `modes`. */
  readonly dialect?: Dialect | undefined;
}

export interface FollowedRun {
  /**
   * The run's chunks; those streamed before it was followed are marked as replayed. Ends when the upstream does; never throws.
   * Read once; leaving it early abandons the run.
   */
  readonly stream: AsyncIterable<UpstreamChunk>;
  /** Resolves once `stream` was read to its end or left; never rejects. */
  readonly final: Promise<GraphFinal>;
}

/** A change of a thread without a run that could be read. */
export interface StateChange {
  readonly threadId: string;
  readonly checkpoint: GraphCheckpoint;
  /** R31: the run that made the change and was not observed; absent for a plain write. */
  readonly passedRun?: { readonly upstreamRunId: string };
}

export interface ExternalRunListener {
  /** Called at every poll while the run is active, so that a listener that can't follow it now gets another chance. */
  onRun(run: ExternalRunName): void;
  onStateChange(change: StateChange): void;
}

export interface ExternalRunWatcher {
  /** Watches a thread until the returned function is called. Calls for the same thread are counted. */
  watch(threadId: string): () => void;
  /** Stops polling. Runs that are followed stay followed. */
  close(): void;
}

/** R5, R31: finds and reads external runs on a backend. Runs of ours (R25) are never among them. */
export interface ExternalRunsPort {
  /** The active external runs of a thread; a thread that does not exist has none. */
  active(threadId: string): Promise<readonly ExternalRunName[]>;
  /**
   * Reads a run from its beginning, without taking events from the client that started it. A run whose log can be read only
   * once is read by its states. The chunks are of the dialect that `run` names. `signal` as for a run of ours: aborted as
   * cancelled it stops the run, with another error it abandons the run.
   */
  follow(run: ExternalRunName, signal: AbortSignal): FollowedRun;
  watch(listener: ExternalRunListener): ExternalRunWatcher;
}
