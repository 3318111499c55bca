import {
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { type Interrupt, parseGraphId, ThroughlineError } from "@throughline/ai-core";
import { interruptContent, read, readArray, readString } from "@throughline/coerce";
import type { RunnableGraph } from "../graphs/graph.js";

/** An interrupt that a checkpoint lists, with the state of its task. */
export interface Question extends Interrupt {
  /** How many responses the task has consumed so far. */
  readonly consumed: number;
  /** The task failed with a response it had consumed: any other response would only come after that one. */
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
 * The open tasks of a state that was read with its subgraphs. Whether a task is done is read from the saver: the state
 * itself shows a task with its response as interrupted for as long as a sibling waits, and one without output as never run.
 * Tasks are read concurrently: a thread may wait for hundreds of responses at once.
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

/** Every interrupt at or below a task, each once, at the interrupted node. */
export function allQuestions(task: OpenTask): readonly Question[] {
  return [...task.questions, ...(task.below ?? []).flatMap(allQuestions)];
}

/**
 * Interrupts that a checkpoint holds and that no task of its state has, because the graph no longer has the node. Its name
 * is known where only one such node was to run.
 */
export function orphanInterrupts(
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
    // An interrupt may be stored once more for the task around the interrupted one.
    asked.add(interruptId);
    const ns = [node === null ? taskId : `${node}:${taskId}`];
    const asker = { ns: [], taskId };
    const became = consumptionOf(pendingWrites.filter(([writer]) => writer === taskId));
    return [{ interrupt_id: interruptId, ...interruptContent(raw), node, ns, asker, ...became }];
  });
}

/** Whether a task can continue without a response. A subgraph whose tasks are all done still has its superstep to close. */
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
  return { asker, ...consumptionOf(writes.filter(([writer]) => writer === asker.taskId)) };
}

/** The consumed responses of a task. A task stores those it has consumed as one `__resume__` write next to its newest interrupt. */
function consumptionOf(writes: readonly CheckpointPendingWrite[]): Pick<Question, "consumed" | "failed"> {
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

/** Pending writes that a task leaves without being done. */
const UNFINISHED_CHANNELS = new Set([
  "__interrupt__",
  "__resume__",
  "__error__",
  "__error_source_node__",
  "__scheduled__",
]);

/** Whether a checkpoint's pending writes hold what a task came to. A task that came to nothing leaves a write as well. */
export function holdsResult(writes: readonly CheckpointPendingWrite[] | undefined, taskId: string): boolean {
  return (writes ?? []).some(
    ([writer, channel]) => writer === taskId && !UNFINISHED_CHANNELS.has(String(channel)),
  );
}

/** A node that a checkpoint is about to run, and the channel that triggers it. */
export interface PendingNode {
  readonly node: string;
  readonly channel: string;
}

const BRANCH = "branch:to:";
const JOIN = "join:";

/** Whether a channel only determines which nodes run next. */
export function isTrigger(channel: string): boolean {
  return channel === TASKS || channel.startsWith(BRANCH) || channel.startsWith(JOIN);
}

/**
 * The nodes that a checkpoint is about to run by what it stores itself, whether the graph still has them or not; LangGraph
 * passes over those it does not have. A channel that the graph does not have either keeps its last value in a database for
 * ever, so only what was written by the newest superstep counts.
 */
export function pendingNodes({ channel_values, channel_versions }: Checkpoint): readonly PendingNode[] {
  const newest = Math.max(...Object.values(channel_versions).map(stepOf));
  return Object.entries(channel_values).flatMap(([channel, value]): PendingNode[] => {
    if (channel === TASKS) return sentTo(value).map((node) => ({ node, channel }));
    if (stepOf(channel_versions[channel]) < newest) return [];
    if (channel.startsWith(BRANCH)) return [{ node: channel.slice(BRANCH.length), channel }];
    if (!channel.startsWith(JOIN)) return [];
    const [awaited = "", node = ""] = channel.slice(JOIN.length).split(":");
    const isComplete = Array.isArray(value) && awaited.split("+").every((name) => value.includes(name));
    return isComplete ? [{ node, channel }] : [];
  });
}

/** Versions of one superstep share their whole part. */
function stepOf(version: unknown): number {
  return Math.floor(Number(version ?? 0));
}

function sentTo(sends: unknown): readonly string[] {
  if (!Array.isArray(sends)) return [];
  return sends.map((send) => readString(send, "node")).filter((node) => node !== undefined);
}

/** How a graph no longer fits a thread's next nodes. */
export type GraphChange =
  /** There is no graph of this name any more. */
  | { readonly kind: "gone" }
  /** The thread's values can't be applied to the graph's state. */
  | { readonly kind: "unfit" }
  /** It lacks these nodes, named by their path; none where only the interrupt of one is left and no name. */
  | { readonly kind: "lacks"; readonly nodes: readonly string[] };

export interface ChangeContext {
  readonly graph: Pick<RunnableGraph, "nodes" | "channels" | "getSubgraphs">;
  readonly saver: BaseCheckpointSaver;
  readonly threadId: string;
}

/** Paths of the nodes that a checkpoint, or one of a subgraph below it, is about to run and the graph does not have. */
export async function lackedNodes(
  { graph, saver, threadId }: ChangeContext,
  tuple: CheckpointTuple,
  snapshot: object,
  path: readonly string[] = [],
): Promise<readonly string[]> {
  const lacked = pendingNodes(tuple.checkpoint)
    .filter(({ node, channel }) => !(node in graph.nodes && channel in graph.channels))
    .map(({ node }) => [...path.map(nameOf), node].join("/"));
  for (const task of readArray(snapshot, "tasks")) {
    const name = readString(task, "name") ?? "";
    const [found] = graph.getSubgraphs(name);
    if (!found) continue;
    const ns = [...path, `${name}:${readString(task, "id") ?? ""}`];
    const below = await saver.getTuple({
      configurable: { thread_id: threadId, checkpoint_ns: ns.join("|") },
    });
    if (!below) continue;
    const state = Object(task).state ?? {};
    lacked.push(...(await lackedNodes({ graph: found[1], saver, threadId }, below, state, ns)));
  }
  return lacked;
}

function nameOf(segment: string): string {
  return segment.slice(0, segment.indexOf(":"));
}

/** The error of a run that can't continue because its graph changed. */
export function graphChanged(
  graphId: string,
  change: GraphChange,
  { asks, cause }: { readonly asks: boolean; readonly cause?: unknown },
): ThroughlineError {
  const name = `The graph "${parseGraphId(graphId) ?? graphId}"`;
  const nodes = change.kind === "lacks" ? change.nodes : [];
  const details = { graphId, ...(nodes.length > 0 && { nodes: [...nodes] }) };
  return new ThroughlineError("graph_changed", `${name} ${whatChanged()}`, { cause, details });

  function whatChanged(): string {
    switch (change.kind) {
      case "gone":
        return `no longer exists. ${asks ? "Decline the question, or bring the graph back." : "Bring it back to go on."}`;
      case "unfit":
        return `has another state now, and what this thread holds can't be applied to it. ${asks ? "Decline the question, and start" : "Start"} a new thread.`;
      case "lacks":
        return `no longer has ${lacked()}. ${asks ? "Decline the question or send" : "Send"} a new message.`;
    }
  }

  function lacked(): string {
    if (nodes.length === 0) return "the node that asked this question";
    const names = nodes.map((node) => `"${node}"`).join(", ");
    return `the ${nodes.length > 1 ? "nodes" : "node"} ${names} that this run ${asks ? "waits in" : "was about to run"}`;
  }
}
