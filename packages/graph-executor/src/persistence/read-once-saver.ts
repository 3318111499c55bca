import type { RunnableConfig } from "@langchain/core/runnables";
import { type CheckpointTuple, copyCheckpoint } from "@langchain/langgraph-checkpoint";
import { read } from "@throughline/coerce";
import { ForwardingSaver } from "./forwarding-saver.js";

/** A saver for one reading of a thread: each checkpoint is read once, however many parts of the reading ask for it. */
export class ReadOnceSaver extends ForwardingSaver {
  readonly #tuples = new Map<string, Promise<CheckpointTuple | undefined>>();
  #hasFailed = false;

  /** Whether a checkpoint could not be read: an error of the reading is then the store's and not the graph's. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { configurable } = config;
    const key = JSON.stringify(
      ["thread_id", "checkpoint_ns", "checkpoint_id"].map((name) => read(configurable, name) ?? ""),
    );
    const asked = this.#tuples.get(key) ?? super.getTuple(config);
    this.#tuples.set(key, asked);
    const tuple = await asked.catch((error: unknown) => {
      this.#hasFailed = true;
      throw error;
    });
    // LangGraph writes into the checkpoint it is given when it applies pending writes to it.
    return tuple && { ...tuple, checkpoint: copyCheckpoint(tuple.checkpoint) };
  }
}
