import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { StreamedMessage } from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import { RUN_METADATA_KEY } from "../checkpoints/run-saver.js";
import { holdsResult } from "./open-tasks.js";

/** Checkpoints read at once. */
const PAGE = 20;

/**
 * R27: a message is committed when the task that streamed it will not run again. That is so once the checkpoint of the
 * graph around it has reached the task's step, or once the task's result, or that of a task around it, is stored as a
 * pending write of the root. Results pending in a subgraph do not count: LangGraph runs their tasks again.
 */
export async function committedMessages(
  saver: BaseCheckpointSaver,
  threadId: string,
  messages: readonly StreamedMessage[],
): Promise<ReadonlySet<string>> {
  const reader = createReader(saver, threadId);
  const committed = new Set<string>();
  for (const { messageId, ns, step } of messages) {
    if ((await hasReached(reader, ns.slice(0, -1), step)) || (await isRootTaskDone(reader, ns))) {
      committed.add(messageId);
    }
  }
  return committed;
}

/** `false` as well for a graph without checkpoints of its own, which lives and dies with the task that called it. */
async function hasReached(reader: Reader, graph: readonly string[], step: number): Promise<boolean> {
  const stored = (await reader.newest(graph))?.metadata?.step;
  return stored !== undefined && stored >= step;
}

/** The step of a task further out is not known here, so its result is searched for in the writes of the whole run. */
async function isRootTaskDone(reader: Reader, ns: readonly string[]): Promise<boolean> {
  const taskId = taskIdOf(ns[0]);
  return (await reader.rootWrites()).some((writes) => holdsResult(writes, taskId));
}

function taskIdOf(segment = ""): string {
  return segment.slice(segment.lastIndexOf(":") + 1);
}

interface Reader {
  newest(graph: readonly string[]): Promise<CheckpointTuple | undefined>;
  /** Pending writes of the root's checkpoints, as far back as the newest run reaches; read once, on demand. */
  rootWrites(): Promise<readonly (CheckpointPendingWrite[] | undefined)[]>;
}

/**
 * Checkpoints of one namespace, newest first, read page by page. PostgreSQL's saver loads all rows of a list with their
 * channel values before it yields the first, and a thread may hold thousands of them.
 */
async function* newestFirst(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
): AsyncGenerator<CheckpointTuple> {
  let before: RunnableConfig | undefined;
  for (;;) {
    let count = 0;
    for await (const tuple of saver.list(config, { limit: PAGE, ...(before && { before }) })) {
      count += 1;
      before = tuple.config;
      yield tuple;
    }
    if (count < PAGE) return;
  }
}

function createReader(saver: BaseCheckpointSaver, threadId: string): Reader {
  const newest = new Map<string, Promise<CheckpointTuple | undefined>>();
  let writes: ReturnType<Reader["rootWrites"]> | undefined;
  const configOf = (ns: string) => ({ configurable: { thread_id: threadId, checkpoint_ns: ns } });

  async function readRootWrites(): ReturnType<Reader["rootWrites"]> {
    const found: (CheckpointPendingWrite[] | undefined)[] = [];
    let newestRun: unknown;
    for await (const tuple of newestFirst(saver, configOf(""))) {
      const run = read(tuple.metadata, RUN_METADATA_KEY);
      if (found.length === 0) newestRun = run;
      found.push(tuple.pendingWrites);
      // The one before is still read: a run that resumes begins at the checkpoint of the run that interrupted.
      if (run !== newestRun) break;
    }
    return found;
  }

  return {
    newest(graph) {
      const key = graph.join("|");
      const tuple = newest.get(key) ?? saver.getTuple(configOf(key));
      newest.set(key, tuple);
      return tuple;
    },
    rootWrites() {
      writes ??= readRootWrites();
      return writes;
    },
  };
}
