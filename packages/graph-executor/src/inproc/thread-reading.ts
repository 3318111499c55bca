import type { StateSnapshot } from "@langchain/langgraph";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { GraphCheckpoint, Interrupt } from "@throughline/ai-core";
import {
  isJsonObject,
  read,
  readNumber,
  readString,
  toMessages,
  toPlain,
  toPlainObject,
} from "@throughline/coerce";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { RUN_METADATA_KEY } from "../persistence/run-saver.js";
import { type AnswerMarks, readAnswerMarks } from "./answer-mark.js";
import { allQuestions, type OpenTask, type Question, readOpenTasks } from "./open-task.js";

/** A thread as its saver holds it at this moment. */
export interface ThreadReading {
  readonly snapshot: StateSnapshot;
  /** The root checkpoint; `undefined` when nothing was ever stored. */
  readonly tuple: CheckpointTuple | undefined;
  readonly openTasks: readonly OpenTask[];
  readonly questions: readonly Question[];
  readonly marks: AnswerMarks;
}

/** The thread at its newest checkpoint. */
export async function readThread(
  graph: RunnableGraph,
  saver: BaseCheckpointSaver,
  threadId: string,
): Promise<ThreadReading> {
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const snapshot = await graph.getState(config, { subgraphs: true });
  const tuple = await saver.getTuple(config);
  const openTasks = await readOpenTasks({ saver, threadId }, snapshot);
  const questions = openTasks.flatMap(allQuestions);
  return { snapshot, tuple, openTasks, questions, marks: readAnswerMarks(tuple) };
}

/** Questions that nobody has answered. An answered one stays listed until its task is done. */
export function waitingQuestions({ questions, marks }: ThreadReading): readonly Interrupt[] {
  return questions
    .filter((question) => !marks.isAnswered(question))
    .map(({ consumed: _, ...interrupt }) => interrupt);
}

/** `undefined` when the thread has no checkpoint. */
export function newestCheckpoint(reading: ThreadReading): GraphCheckpoint | undefined {
  const { openTasks, snapshot } = reading;
  // Where every task is done and their checkpoint is missing, a crash came between: the graph is not done.
  const next = (openTasks.length > 0 ? openTasks : snapshot.tasks).map((task) => task.name);
  return toGraphCheckpoint(snapshot, next, waitingQuestions(reading));
}

/** A checkpoint of the past, with all that was to run and every question that was open, answered since or not. */
export function pastCheckpoint(snapshot: StateSnapshot): GraphCheckpoint | undefined {
  const interrupts = snapshot.tasks.flatMap((task) =>
    task.interrupts.flatMap(({ id, value }): Interrupt[] => {
      if (id === undefined) return [];
      return [{ interrupt_id: id, value: toPlain(value), node: task.name, ns: [`${task.name}:${task.id}`] }];
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
  const values: unknown = snapshot.values;
  return {
    checkpointId,
    ...(parentCheckpointId !== undefined && { parentCheckpointId }),
    ...(snapshot.createdAt !== undefined && { createdAt: snapshot.createdAt }),
    ...(source !== undefined && { source }),
    ...(step !== undefined && { step }),
    ...(runId !== undefined && { runId }),
    state: stateOf(values),
    messages: toMessages(read(values, "messages")),
    next,
    interrupts,
  };
}

function stateOf(values: unknown): GraphCheckpoint["state"] {
  if (!isJsonObject(values)) return toPlainObject(values);
  const { messages: _, ...state } = values;
  return toPlainObject(state);
}
