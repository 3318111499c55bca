import {
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
} from "@langchain/langgraph-checkpoint";
import type { Interrupt } from "@throughline/ai-core";
import { interruptContent, read, readArray, readString } from "@throughline/coerce";
import { pendingNodes } from "./pending-nodes.js";
import { holdsResult } from "./task-result.js";

/** An interrupt that a checkpoint lists, and what became of the task that asks it. */
export interface Question extends Interrupt {
  /** How many answers the task has taken so far. */
  readonly consumed: number;
  /** The task failed with an answer it had taken: any other answer would only come after that one. */
  readonly failed: boolean;
  /** The task, and the namespace of the checkpoint it belongs to. */
  readonly asker: { readonly ns: readonly string[]; readonly taskId: string };
}

/** A task that a checkpoint still has to run, or to end. */
export interface OpenTask {
  readonly name: string;
  /** Asked by this very task, not by one below it. */
  readonly questions: readonly Question[];
  /** Open tasks of the subgraph that the task is; `undefined` where it is none or has not begun. */
  readonly below: readonly OpenTask[] | undefined;
}

export interface CheckpointReader {
  readonly saver: BaseCheckpointSaver;
  readonly threadId: string;
}

/**
 * The open tasks of a state that was read with its subgraphs. Whether a task is done is asked of the saver: the state
 * itself shows an answered task as interrupted for as long as a sibling waits, and one without output as never run. Tasks are
 * read side by side: a thread may wait for hundreds of answers at once.
 */
export async function readOpenTasks(
  reader: CheckpointReader,
  snapshot: object,
  path: readonly string[] = [],
): Promise<readonly OpenTask[]> {
  const tasks = readArray(snapshot, "tasks");
  if (tasks.length === 0) return [];
  const writes = await readWrites(reader, path);
  const open = tasks.filter((task) => !holdsResult(writes, readString(task, "id") ?? ""));
  return Promise.all(open.map((task) => readOpenTask(reader, task, { path, writes })));
}

async function readOpenTask(
  reader: CheckpointReader,
  task: unknown,
  { path, writes }: { readonly path: readonly string[]; readonly writes: readonly CheckpointPendingWrite[] },
): Promise<OpenTask> {
  const taskId = readString(task, "id") ?? "";
  const name = readString(task, "name") ?? "";
  const ns = [...path, `${name}:${taskId}`];
  const state = read(task, "state");
  const below = hasTasks(state) ? await readOpenTasks(reader, state, ns) : undefined;
  const askedBelow = new Set((below ?? []).flatMap(allQuestions).map((question) => question.interrupt_id));
  const asked = readArray(task, "interrupts").flatMap((raw) => {
    const interruptId = readString(raw, "id");
    return interruptId === undefined || askedBelow.has(interruptId) ? [] : [{ raw, interruptId }];
  });
  const questions = asked.map(
    async ({ raw, interruptId }): Promise<Question> => ({
      interrupt_id: interruptId,
      ...interruptContent(raw),
      node: name,
      ns,
      ...(await findAsker(reader, { path, ns, writes, taskId, interruptId })),
    }),
  );
  return { name, questions: await Promise.all(questions), below };
}

/** Every question at or below a task, each once, at the node that asks it. */
export function allQuestions(task: OpenTask): readonly Question[] {
  return [...task.questions, ...(task.below ?? []).flatMap(allQuestions)];
}

/**
 * Questions that a checkpoint holds and that no task of its state asks, because the graph no longer has the node. Its name
 * is known where only one such node was to run.
 */
export function orphanQuestions(
  { checkpoint, pendingWrites = [] }: CheckpointTuple,
  snapshot: object,
): readonly Question[] {
  const tasks = readArray(snapshot, "tasks");
  const asked = new Set(tasks.flatMap((task) => readArray(task, "interrupts")).map((raw) => read(raw, "id")));
  const named = new Set(tasks.map((task) => read(task, "name")));
  const lacked = pendingNodes(checkpoint).filter(({ node }) => !named.has(node));
  const node = lacked.length === 1 ? (lacked[0]?.node ?? null) : null;
  return pendingWrites.flatMap(([taskId, channel, raw]): Question[] => {
    const interruptId = channel === INTERRUPT ? readString(raw, "id") : undefined;
    if (interruptId === undefined || asked.has(interruptId) || holdsResult(pendingWrites, taskId)) return [];
    // A question may be stored once more for the task around the one that asks.
    asked.add(interruptId);
    const ns = [node === null ? taskId : `${node}:${taskId}`];
    const asker = { ns: [], taskId };
    const became = whatBecame(pendingWrites.filter(([writer]) => writer === taskId));
    return [{ interrupt_id: interruptId, ...interruptContent(raw), node, ns, asker, ...became }];
  });
}

/** Whether a task can run on without an answer. A subgraph whose tasks are all done still has its superstep to close. */
export function canRunOn({ below = [], questions }: OpenTask): boolean {
  return below.length > 0 ? below.some(canRunOn) : questions.length === 0;
}

function hasTasks(state: unknown): state is object {
  return readArray(state, "tasks").length > 0;
}

/** A graph that a node calls as a function is in no state, only in the saver: there the asker is one level down. */
async function findAsker(
  reader: CheckpointReader,
  listed: {
    readonly path: readonly string[];
    readonly ns: readonly string[];
    readonly writes: readonly CheckpointPendingWrite[];
    readonly taskId: string;
    readonly interruptId: string;
  },
): Promise<Pick<Question, "asker" | "consumed" | "failed">> {
  const below = await readWrites(reader, listed.ns);
  const asked = below.find(
    ([, channel, value]) => channel === INTERRUPT && readString(value, "id") === listed.interruptId,
  );
  const asker = asked ? { ns: listed.ns, taskId: asked[0] } : { ns: listed.path, taskId: listed.taskId };
  const writes = asked ? below : listed.writes;
  return { asker, ...whatBecame(writes.filter(([writer]) => writer === asker.taskId)) };
}

/** A task keeps the answers it has taken as one `__resume__` write beside its newest question. */
function whatBecame(writes: readonly CheckpointPendingWrite[]): Pick<Question, "consumed" | "failed"> {
  const taken = writes.find(([, channel]) => channel === "__resume__")?.[2];
  const consumed = Array.isArray(taken) ? taken.length : 0;
  return { consumed, failed: consumed > 0 && writes.some(([, channel]) => channel === ERROR) };
}

async function readWrites(
  { saver, threadId }: CheckpointReader,
  ns: readonly string[],
): Promise<readonly CheckpointPendingWrite[]> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: ns.join("|") } });
  return tuple?.pendingWrites ?? [];
}
