import { Command } from "@langchain/langgraph";
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  maxChannelVersion,
  RESUME,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { type FreshRunStart, type GraphRunRequest, type Json, ThroughlineError } from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import { RUN_METADATA_KEY } from "../checkpoints/run-saver.js";
import type { RunnableGraph } from "../graphs/graph.js";
import { graphInput } from "../run-input.js";
import { canRunOn, graphChanged, isTrigger, type Question } from "./open-tasks.js";
import { markResumes, voidMarks } from "./resume-marks.js";
import { isStuck, readThread, type ThreadReading } from "./thread-state.js";

/** The graph's input; `rest` when there is nothing to run and the checkpoint is complete. */
export type StartPlan =
  | { readonly kind: "run"; readonly input: unknown; readonly checkpointId?: string }
  | { readonly kind: "rest" };

/** The graph continues from its checkpoint with all unfinished tasks. */
const GO_ON: StartPlan = { kind: "run", input: null };
const REST: StartPlan = { kind: "rest" };

export interface StartContext {
  /** Absent where there is no graph of this name any more. */
  readonly graph: RunnableGraph | undefined;
  readonly saver: BaseCheckpointSaver;
  readonly request: GraphRunRequest;
  /** The error of a run of an unknown graph that has no checkpoint to continue from. */
  readonly unknownAgent: () => Promise<ThroughlineError>;
}

/** Reads the thread only where the start depends on it: plain input goes to the graph at once. */
export async function planStart(context: StartContext): Promise<StartPlan> {
  const { start } = context.request;
  return start.kind === "continue" ? planContinue(context, start.original) : planFresh(context, start);
}

async function planFresh(context: StartContext, start: FreshRunStart): Promise<StartPlan> {
  const { graph, saver, request } = context;
  if (start.kind === "resume") {
    return planResume(context, start.answers, await readThread(graph, saver, request.threadId));
  }
  if (!graph) throw await context.unknownAgent();
  switch (start.kind) {
    case "input":
      return { kind: "run", input: graphInput(graph, request, start) };
    case "fork": {
      const { checkpointId, messages } = start;
      await requireCheckpoint(context, checkpointId);
      const input = messages.length > 0 ? graphInput(graph, request, { messages }) : null;
      return { kind: "run", input, checkpointId };
    }
  }
}

/** An id that is not open is refused here: LangGraph would use the whole map as one response to some interrupt. */
async function planResume(
  { graph, saver, request, unknownAgent }: StartContext,
  answers: Readonly<Record<string, Json>>,
  reading: ThreadReading,
): Promise<StartPlan> {
  const { questions, tuple, openTasks, change } = reading;
  if (!graph && !tuple) throw await unknownAgent();
  const ids = Object.keys(answers);
  if (ids.length === 0 && change) throw graphChanged(request.graphId, change, { asks: questions.length > 0 });
  if (ids.length === 0 && openTasks.length > 0 && questions.length === 0) return GO_ON;
  if (ids.length === 0) {
    const stuck = questions.filter((question) => isStuck(reading, question));
    await revokeResumes(saver, reading, request.runId, stuck);
    // An interrupt that has its response and still shows as open was stopped after it consumed it: it continues with that.
    const wasAnswered = questions.some(({ interrupt_id }) => reading.marks.writers(interrupt_id).length > 0);
    if (wasAnswered) return GO_ON;
  }
  const answered = questions.filter((question) => ids.includes(question.interrupt_id));
  const unknown = ids.find((id) => !answered.some((question) => question.interrupt_id === id));
  if (tuple === undefined || unknown !== undefined || ids.length === 0) {
    throw new ThroughlineError("conflict", "The question that was answered is no longer open.", {
      details: unknown === undefined ? {} : { interruptId: unknown },
    });
  }
  if (change) {
    if (!ids.every((id) => isDeclined(answers[id])))
      throw graphChanged(request.graphId, change, { asks: true });
    await clearPendingWrites(saver, tuple);
    return REST;
  }
  // Runs of a thread follow each other: a response that an earlier one left unconsumed is lost, and its interrupt open again.
  const lost = questions.filter(
    (question) => !ids.includes(question.interrupt_id) && reading.marks.isAnswered(question),
  );
  await voidMarks(saver, tuple, request.runId, reading.marks, lost);
  await markResumes(saver, tuple, request.runId, answered);
  return { kind: "run", input: new Command({ resume: answers }) };
}

/** R27: what the saver holds decides, never what was streamed. */
async function planContinue(context: StartContext, original: FreshRunStart): Promise<StartPlan> {
  const { graph, saver, request } = context;
  const reading = await readThread(graph, saver, request.threadId);
  const wroteCheckpoint = runOf(reading) === request.runId;
  // A thread of several turns has a checkpoint of an earlier run; going on from that would drop this run's input.
  if (!wroteCheckpoint && !reading.marks.has(request.runId)) {
    if (!graph && original.kind !== "resume")
      throw graphChanged(request.graphId, { kind: "gone" }, { asks: false });
    return planFresh(context, original);
  }
  if (reading.change) {
    throw graphChanged(request.graphId, reading.change, { asks: reading.questions.length > 0 });
  }
  const answers = original.kind === "resume" ? original.answers : {};
  const untaken = reading.questions.filter(
    (question) => question.interrupt_id in answers && reading.marks.isAnswered(question, request.runId),
  );
  if (untaken.length > 0) {
    const resume = Object.fromEntries(
      untaken.map((question) => [question.interrupt_id, answers[question.interrupt_id]]),
    );
    return { kind: "run", input: new Command({ resume }) };
  }
  // Killed between the last task of a superstep and its checkpoint, there are tasks, and none of them is open.
  const isDone = reading.snapshot.tasks.length === 0;
  const isWaiting = reading.openTasks.length > 0 && !reading.openTasks.some(canRunOn);
  return isDone || isWaiting ? REST : GO_ON;
}

function runOf({ tuple }: ThreadReading): unknown {
  return tuple?.metadata && Reflect.get(tuple.metadata, RUN_METADATA_KEY);
}

async function requireCheckpoint({ saver, request }: StartContext, checkpointId: string): Promise<void> {
  const config = {
    configurable: { thread_id: request.threadId, checkpoint_ns: "", checkpoint_id: checkpointId },
  };
  if ((await saver.getTuple(config)) !== undefined) return;
  throw new ThroughlineError("not_found", "The checkpoint to run from does not exist in this thread.", {
    details: { checkpointId },
  });
}

/**
 * Reopens interrupts whose nodes failed on their responses. LangGraph stores a response with the task that consumed it and
 * passes it to that task for ever, so that the right response after a wrong one fails as well. Overwritten with none, the task
 * interrupts again when it runs. Nothing else of the step is touched: the work of its other tasks is not repeated.
 */
async function revokeResumes(
  saver: BaseCheckpointSaver,
  reading: Pick<ThreadReading, "tuple" | "marks">,
  runId: string,
  questions: readonly Question[],
): Promise<void> {
  const { tuple, marks } = reading;
  if (!tuple) return;
  // First: a run that dies in between finds interrupts that still show their responses, and revokes those again.
  for (const { asker, interrupt_id } of questions) {
    const thread_id = tuple.config.configurable?.thread_id;
    const asked = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: asker.ns.join("|") } });
    if (asked) await saver.putWrites(asked.config, [[RESUME, []]], asker.taskId);
    // LangGraph stores a response that was given by the interrupt's id here.
    await saver.putWrites(tuple.config, [[RESUME, []]], interrupt_id);
  }
  await voidMarks(saver, tuple, runId, marks, questions);
}

/** Whether a response declines its interrupt, by the mark that graphs written for AG-UI know. */
function isDeclined(answer: Json | undefined): boolean {
  return read(answer, "__agui_cancelled__") === true;
}

/**
 * Makes a thread idle that waits in a node which its graph lacks: a new checkpoint with everything the last one holds but
 * what was to run next. Needs no graph. The channels are emptied under a newer version rather than left out, because the
 * versions of a thread may only grow.
 */
async function clearPendingWrites(saver: BaseCheckpointSaver, tuple: CheckpointTuple): Promise<void> {
  const { checkpoint, config, metadata } = tuple;
  const emptied = Object.keys(checkpoint.channel_values).filter(isTrigger);
  const newest = Number(maxChannelVersion(...Object.values(checkpoint.channel_versions)));
  const versions = Object.fromEntries(emptied.map((channel) => [channel, saver.getNextVersion(newest)]));
  const remaining = Object.entries(checkpoint.channel_values).filter(
    ([channel]) => !emptied.includes(channel),
  );
  const step = (metadata?.step ?? -1) + 1;
  await saver.put(
    config,
    {
      ...checkpoint,
      id: uuid6(step),
      ts: new Date().toISOString(),
      channel_values: Object.fromEntries(remaining),
      channel_versions: { ...checkpoint.channel_versions, ...versions },
    },
    { source: "update", step, parents: metadata?.parents ?? {} },
    versions,
  );
}
