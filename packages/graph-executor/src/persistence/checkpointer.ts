import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** A saver and its upkeep, for callers that know nothing of LangChain. */
export interface Checkpointer {
  readonly saver: BaseCheckpointSaver;
  /** Creates or migrates what the saver needs. Once per process, before the first run. */
  setup(): Promise<void>;
  close(): Promise<void>;
}
