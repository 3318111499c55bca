import type { Interrupt } from "../envelope/envelope.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../messages/message.js";
import type { Fence, FoundFile } from "../ports.js";

/** A thread, and the graph that can read its checkpoints. */
export interface GraphThread {
  readonly graphId: string;
  readonly threadId: string;
}

/** One checkpoint of a thread as plain values, whatever holds it. */
export interface GraphCheckpoint {
  readonly checkpointId: string;
  readonly parentCheckpointId?: string;
  readonly createdAt?: string;
  /** What made it: `input`, `loop`, `update` or `fork`. */
  readonly source?: string;
  readonly step?: number;
  /** Our run that wrote it, where one did. */
  readonly runId?: string;
  /** Every channel but `messages`; what a functional graph returned, under `output` where that is no object. */
  readonly state: JsonObject;
  /** Absent where the graph has no `messages`: then the log alone has the conversation. */
  readonly messages?: readonly Message[];
  /** Nodes that would run next; empty when the graph is done. */
  readonly next: readonly string[];
  /** Questions that wait for an answer; one that was answered and not yet consumed is not among them. */
  readonly interrupts: readonly Interrupt[];
  /** Files that the checkpoint itself holds. `state` and `messages` name them by addresses, which lead nowhere until they are stored. */
  readonly files?: readonly FoundFile[];
}

/** Where a message was streamed from: what decides whether a checkpoint holds it. */
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
  /** Added; one with an id that the thread has takes the other's place. */
  readonly messages?: readonly Message[];
  /** The node the update counts as; what runs next follows from it. */
  readonly asNode?: string;
}

/** R6: the checkpoint is the truth of state and messages. Every backend that runs graphs can also say what they left behind. */
export interface GraphStatePort {
  /** The newest checkpoint, or the one named; `undefined` when the thread has none. */
  getState(thread: GraphThread, checkpointId?: string): Promise<GraphCheckpoint | undefined>;
  /** Newest first; `before` is a checkpoint id, exclusive. */
  history(
    thread: GraphThread,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly GraphCheckpoint[]>;
  /** Writes state outside a run; gives the id of the new checkpoint. Throws `invalid_input` where the graph refuses it. */
  updateState(thread: GraphThread, update: StateUpdate, fence?: Fence): Promise<string>;
  /** R27: ids of those messages that a checkpoint holds. The rest was streamed, and will be streamed anew. */
  committedMessages(thread: GraphThread, messages: readonly StreamedMessage[]): Promise<ReadonlySet<string>>;
  /**
   * Makes `to`, which has no checkpoint yet, begin where `from` stood at a checkpoint. The fence is of `to`. Throws
   * `not_found` for a checkpoint that is not there, `invalid_input` for one that this backend can't copy.
   */
  copyThread(from: GraphThread, checkpointId: string, to: GraphThread, fence?: Fence): Promise<void>;
  /** Deletes the thread; one that does not exist is no error. Without a fence the caller knows that it has no writer. */
  deleteThread(thread: GraphThread, fence?: Fence): Promise<void>;
}
