import type { Dialect } from "../context/run-context.js";
import type { GraphFinal, UpstreamChunk } from "./graph-executor.js";
import type { GraphCheckpoint } from "./graph-state.js";

/** A foreign run on a thread of ours, by the upstream's own ids. */
export interface ForeignRunName {
  readonly threadId: string;
  readonly upstreamRunId: string;
  /** `events` where its starter asked for events and not for tokens. Default `modes`. */
  readonly dialect?: Dialect | undefined;
}

export interface FollowedRun {
  /** What the run had streamed before it is marked as replayed. Ends when the upstream does; never throws. Read once; leaving it early leaves the run to itself. */
  readonly stream: AsyncIterable<UpstreamChunk>;
  /** Settles once `stream` was read to its end or left; never rejects. */
  readonly final: Promise<GraphFinal>;
}

/** A thread changed, and no run of it was there to be read. */
export interface StateChange {
  readonly threadId: string;
  readonly checkpoint: GraphCheckpoint;
  /** R31: the run that made the change and passed unwatched; absent for a plain write. */
  readonly passedRun?: { readonly upstreamRunId: string };
}

export interface ForeignRunListener {
  /** At every look for as long as the run is active, so that one who can't take it now is asked again. */
  onRun(run: ForeignRunName): void;
  onStateChange(change: StateChange): void;
}

export interface ForeignRunWatcher {
  /** Watches a thread until the returned function is called. Calls for the same thread are counted. */
  watch(threadId: string): () => void;
  /** Stops looking. What is followed stays followed. */
  close(): void;
}

/** R5, R31: foreign runs on a backend. One of ours (R25) is never among them. */
export interface ForeignRunsPort {
  /** Those on their way in a thread right now; a thread that does not exist has none. */
  active(threadId: string): Promise<readonly ForeignRunName[]>;
  /**
   * Reads a run from its first word, without taking events from the client that started it. One whose log can be read only once
   * is told by its states. The chunks are of the dialect that `run` names. `signal` as for a run of ours: aborted as cancelled it stops the run, with another error it
   * leaves the run to itself.
   */
  follow(run: ForeignRunName, signal: AbortSignal): FollowedRun;
  watch(listener: ForeignRunListener): ForeignRunWatcher;
}
