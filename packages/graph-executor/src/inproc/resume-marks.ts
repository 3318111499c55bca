import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { readArray, readNumber } from "@throughline/coerce";
import type { Question } from "./open-tasks.js";

const ANSWERED_CHANNEL = "__throughline_answered__";
const VOIDED_CHANNEL = "__throughline_voided__";

/**
 * Records, before a run resumes, how many responses each interrupt had consumed. LangGraph stores a response that is keyed by
 * interrupt id, but does not find it again when a crashed run continues without input, and two interrupts of one task share
 * an id. With the mark a recovery knows which responses still have to be passed: those whose count has not changed. LangGraph
 * passes over pending writes of a task it does not have.
 */
export async function markResumes(
  saver: BaseCheckpointSaver,
  { config }: CheckpointTuple,
  runId: string,
  questions: readonly Question[],
): Promise<void> {
  const counts = Object.fromEntries(questions.map((question) => [question.interrupt_id, question.consumed]));
  await saver.putWrites(config, [[ANSWERED_CHANNEL, counts]], runId);
}

export interface AnswerMarks {
  /** Whether this run resumed any interrupt at this checkpoint. */
  has(runId: string): boolean;
  /** Runs that marked this interrupt as resumed. */
  writers(interruptId: string): readonly string[];
  /** Whether a run (this one, or any) resumed this interrupt with a response that its task has not consumed yet. */
  isAnswered(question: Question, runId?: string): boolean;
}

export function readAnswerMarks(tuple: CheckpointTuple | undefined): AnswerMarks {
  const writes = tuple?.pendingWrites ?? [];
  const marks = writes.filter(([, channel]) => channel === ANSWERED_CHANNEL);
  const voided = writes.filter(([, channel]) => channel === VOIDED_CHANNEL);
  const isVoid = (interruptId: string, writer: string) =>
    voided.some(([, , writers]) => readArray(writers, interruptId).includes(writer));
  return {
    has: (runId) => marks.some(([writer]) => writer === runId),
    writers: (interruptId) =>
      marks.flatMap(([writer, , counts]) =>
        readNumber(counts, interruptId) === undefined ? [] : [String(writer)],
      ),
    isAnswered: ({ interrupt_id, consumed }, runId) =>
      marks.some(
        ([writer, , counts]) =>
          (runId === undefined || writer === runId) &&
          readNumber(counts, interrupt_id) === consumed &&
          !isVoid(interrupt_id, writer),
      ),
  };
}

/** Voids the marks of these interrupts: their responses were revoked, and their counts restart. */
export async function voidMarks(
  saver: BaseCheckpointSaver,
  { config }: CheckpointTuple,
  runId: string,
  marks: AnswerMarks,
  questions: readonly Question[],
): Promise<void> {
  if (questions.length === 0) return;
  const writers = Object.fromEntries(
    questions.map(({ interrupt_id }) => [interrupt_id, marks.writers(interrupt_id)]),
  );
  await saver.putWrites(config, [[VOIDED_CHANNEL, writers]], runId);
}
