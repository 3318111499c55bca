import type { StateSnapshot } from "@langchain/langgraph";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { GraphCheckpoint, Interrupt } from "@throughline/ai-core";
import { interruptContent, readNumber, readString, toMessages, toPlainObject } from "@throughline/coerce";
import { extractFiles } from "../attachments/files.js";
import { ReadOnceSaver, RUN_METADATA_KEY } from "../checkpoints/run-saver.js";
import type { RunnableGraph } from "../graphs/graph.js";
import { valuesAsState } from "./graph-values.js";
import {
  allQuestions,
  type GraphChange,
  isTrigger,
  lackedNodes,
  type OpenTask,
  orphanInterrupts,
  pendingNodes,
  type Question,
  readOpenTasks,
} from "./open-tasks.js";
import { type AnswerMarks, readAnswerMarks } from "./resume-marks.js";

/** Key of the config in which LangGraph expects a saver other than the graph's own. */
const CHECKPOINTER_KEY = "__pregel_checkpointer";

/** A thread as its saver holds it at this moment. */
export interface ThreadReading {
  readonly snapshot: StateSnapshot;
  /** The root checkpoint; `undefined` when nothing was ever stored. */
  readonly tuple: CheckpointTuple | undefined;
  readonly openTasks: readonly OpenTask[];
  readonly questions: readonly Question[];
  readonly marks: AnswerMarks;
  /** How the graph no longer fits the thread's next nodes; `undefined` where it fits. */
  readonly change: GraphChange | undefined;
}

/** The thread at its newest checkpoint; one read where nothing is open. `graph` is absent where there is none any more. */
export async function readThread(
  graph: RunnableGraph | undefined,
  saver: BaseCheckpointSaver,
  threadId: string,
): Promise<ThreadReading> {
  const once = new ReadOnceSaver(saver);
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const tuple = await once.getTuple(config);
  const applied = graph && (await snapshotBy(graph, once, config));
  const snapshot = applied ?? snapshotOf(tuple, config);
  const openTasks = await readOpenTasks({ saver: once, threadId }, snapshot);
  const orphans = tuple ? orphanInterrupts(tuple, snapshot) : [];
  return {
    snapshot,
    tuple,
    openTasks,
    questions: [...openTasks.flatMap(allQuestions), ...orphans],
    marks: readAnswerMarks(tuple),
    change: tuple && (await findChange(tuple)),
  };

  async function findChange(stored: CheckpointTuple): Promise<GraphChange | undefined> {
    if (!graph || !applied) {
      const isOpen = snapshot.next.length > 0 || orphans.length > 0;
      return isOpen ? { kind: graph ? "unfit" : "gone" } : undefined;
    }
    const nodes = await lackedNodes({ graph, saver: once, threadId }, stored, snapshot);
    return nodes.length > 0 || orphans.length > 0 ? { kind: "lacks", nodes } : undefined;
  }
}

/** Interrupts that accept a response. One with a response stays listed until its task is done. */
export function waitingQuestions(reading: ThreadReading): readonly Interrupt[] {
  return reading.questions.filter((question) => !isStuck(reading, question)).map(toInterrupt);
}

/** Whether an interrupt has its response and its task is not done. After a failed run, only repeating the interrupt helps. */
export function isStuck({ marks }: Pick<ThreadReading, "marks">, question: Question): boolean {
  return question.failed || marks.isAnswered(question);
}

function toInterrupt({ consumed: _, failed: __, asker: ___, ...interrupt }: Question): Interrupt {
  return interrupt;
}

/** `undefined` when the thread has no checkpoint. */
export function newestCheckpoint(reading: ThreadReading): GraphCheckpoint | undefined {
  const { openTasks, snapshot, change } = reading;
  // If every task is done and their checkpoint is missing, a crash came between: the graph is not done.
  const next = (openTasks.length > 0 ? openTasks : snapshot.tasks).map((task) => task.name);
  const lacked = change?.kind === "lacks" ? change.nodes.filter((node) => !node.includes("/")) : [];
  return toGraphCheckpoint(
    snapshot,
    snapshot.tasks.length > 0 ? [...next, ...lacked] : [...snapshot.next, ...lacked],
    waitingQuestions(reading),
  );
}

/** A checkpoint of the past that no graph can read any more. */
export function storedCheckpoint(tuple: CheckpointTuple): GraphCheckpoint | undefined {
  const snapshot = snapshotOf(tuple, tuple.config);
  return toGraphCheckpoint(snapshot, snapshot.next, orphanInterrupts(tuple, snapshot).map(toInterrupt));
}

/** `undefined` for a state that the graph can't be given; one that can't be read is another matter. */
async function snapshotBy(
  graph: RunnableGraph,
  saver: ReadOnceSaver,
  { configurable }: { readonly configurable: Readonly<Record<string, string>> },
): Promise<StateSnapshot | undefined> {
  try {
    const config = { configurable: { ...configurable, [CHECKPOINTER_KEY]: saver } };
    return await graph.getState(config, { subgraphs: true });
  } catch (error) {
    if (saver.hasFailed) throw error;
    return undefined;
  }
}

/** The snapshot of a checkpoint without its graph: its values, its nodes to run by name, and no tasks. */
function snapshotOf(tuple: CheckpointTuple | undefined, config: StateSnapshot["config"]): StateSnapshot {
  if (!tuple) return { values: {}, next: [], tasks: [], config };
  const { checkpoint, metadata, parentConfig } = tuple;
  const values = Object.entries(checkpoint.channel_values).filter(
    ([channel]) => !isTrigger(channel) && !channel.startsWith("__"),
  );
  return {
    values: Object.fromEntries(values),
    next: [...new Set(pendingNodes(checkpoint).map(({ node }) => node))],
    tasks: [],
    config: tuple.config,
    createdAt: checkpoint.ts,
    ...(metadata && { metadata }),
    ...(parentConfig && { parentConfig }),
  };
}

/** An earlier checkpoint, with all nodes that were to run and every interrupt that was open, with or without a later response. */
export function pastCheckpoint(snapshot: StateSnapshot): GraphCheckpoint | undefined {
  const interrupts = snapshot.tasks.flatMap((task) =>
    task.interrupts.flatMap((raw): Interrupt[] => {
      if (raw.id === undefined) return [];
      const ns = [`${task.name}:${task.id}`];
      return [{ interrupt_id: raw.id, ...interruptContent(raw), node: task.name, ns }];
    }),
  );
  return toGraphCheckpoint(snapshot, snapshot.next, interrupts);
}

function toGraphCheckpoint(
  snapshot: StateSnapshot,
  next: readonly string[],
  interrupts: readonly Interrupt[],
): GraphCheckpoint | undefined {
  const checkpointId = readString(snapshot.config.configurable, "checkpoint_id");
  if (checkpointId === undefined) return undefined;
  const parentCheckpointId = readString(snapshot.parentConfig?.configurable, "checkpoint_id");
  const source = readString(snapshot.metadata, "source");
  const step = readNumber(snapshot.metadata, "step");
  const runId = readString(snapshot.metadata, RUN_METADATA_KEY);
  const { value, files } = extractFiles(valuesAsState(snapshot.values));
  const { messages, ...state } = toRecord(value);
  return {
    checkpointId,
    ...(parentCheckpointId !== undefined && { parentCheckpointId }),
    ...(snapshot.createdAt !== undefined && { createdAt: snapshot.createdAt }),
    ...(source !== undefined && { source }),
    ...(step !== undefined && { step }),
    ...(runId !== undefined && { runId }),
    state: toPlainObject(state),
    ...(messages !== undefined && { messages: toMessages(messages) }),
    next,
    interrupts,
    ...(files.length > 0 && { files }),
  };
}

function toRecord(values: unknown): Readonly<Record<string, unknown>> {
  return { ...Object(values) };
}
