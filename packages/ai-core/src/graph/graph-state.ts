import type { Interrupt } from "../envelope/envelope.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../messages/message.js";
import type { EmbeddedFile, Fence } from "../ports.js";

/** A thread, and the graph that can read its checkpoints. */
export interface GraphThread {
  readonly graphId: string;
  readonly threadId: string;
}

/** One checkpoint of a thread as plain values, independent of its store. */
export interface GraphCheckpoint {
  readonly checkpointId: string;
  readonly parentCheckpointId?: string;
  readonly createdAt?: string;
  /** The origin of the checkpoint: `input`, `loop`, `update` or `fork`. */
  readonly source?: string;
  readonly step?: number;
  /** Our run that wrote it, where one did. */
  readonly runId?: string;
  /** Every channel but `messages`; the result of a functional graph, under `output` where that is no object. */
  readonly state: JsonObject;
  /** Absent where the graph has no `messages`: then the log alone has the conversation. */
  readonly messages?: readonly Message[];
  /** Nodes that would run next; empty when the graph is done. */
  readonly next: readonly string[];
  /** The open interrupts; one with a response that was not yet consumed is not among them. */
  readonly interrupts: readonly Interrupt[];
  /** Files that the checkpoint itself holds. `state` and `messages` have their URLs, which are invalid until they are stored. */
  readonly files?: readonly EmbeddedFile[];
}

/** The origin of a streamed message, which decides whether a checkpoint holds it. */
export interface StreamedMessage {
  readonly messageId: string;
  /** Task path as streamed; the last segment, `{node}:{task id}`, is the task that wrote the message. */
  readonly ns: readonly string[];
  /** `langgraph_step` of that task. */
  readonly step: number;
}

export interface StateUpdate {
  /** Channels by name, each set to its value, past its reducer. */
  readonly state?: JsonObject;
  /** Messages to add; one with an id that the thread has replaces the other. */
  readonly messages?: readonly Message[];
  /** The node that the update counts as; it decides the next nodes. */
  readonly asNode?: string;
}

/** R6: reads and writes checkpoints, the truth of state and messages. Every backend that runs graphs implements it. */
export interface GraphStatePort {
  /** The newest checkpoint, or the one named; `undefined` when the thread has none. */
  getState(thread: GraphThread, checkpointId?: string): Promise<GraphCheckpoint | undefined>;
  /** Newest first; `before` is a checkpoint id, exclusive. */
  history(
    thread: GraphThread,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly GraphCheckpoint[]>;
  /** Writes state outside a run; returns the id of the new checkpoint. Throws `invalid_input` where the graph refuses it. */
  updateState(thread: GraphThread, update: StateUpdate, fence?: Fence): Promise<string>;
  /** R27: ids of those messages that a checkpoint holds. The others were streamed, and will be streamed again. */
  committedMessages(thread: GraphThread, messages: readonly StreamedMessage[]): Promise<ReadonlySet<string>>;
  /**
   * Copies a checkpoint of `from` to `to`, which has no checkpoint yet. The fence is of `to`. Throws `not_found` for a
   * checkpoint that does not exist, `invalid_input` for one that this backend can't copy.
   */
  copyThread(from: GraphThread, checkpointId: string, to: GraphThread, fence?: Fence): Promise<void>;
  /** Deletes the thread; one that does not exist is no error. Without a fence the caller knows that it has no writer. */
  deleteThread(thread: GraphThread, fence?: Fence): Promise<void>;
}
