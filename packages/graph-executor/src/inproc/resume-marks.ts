import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { readArray, readNumber } from "@throughline/coerce";
import type { Question } from "./open-tasks.js";

const ANSWERED_CHANNEL = "__throughline_answered__";
const VOIDED_CHANNEL = "__throughline_voided__";

/**
 * Writes down, before a run answers, how many answers each question had taken. LangGraph stores an answer that is keyed by
 * interrupt id, but does not find it again when a crashed run goes on without input, and two questions of one task share
 * an id. With the mark a takeover knows which answers still have to be given: those whose count has not moved. LangGraph
 * passes over pending writes of a task it does not have.
 */
export async function markAnswers(
  saver: BaseCheckpointSaver,
  { config }: CheckpointTuple,
  runId: string,
  questions: readonly Question[],
): Promise<void> {
  const counts = Object.fromEntries(questions.map((question) => [question.interrupt_id, question.consumed]));
  await saver.putWrites(config, [[ANSWERED_CHANNEL, counts]], runId);
}

export interface AnswerMarks {
  /** Whether this run answered anything at this checkpoint. */
  has(runId: string): boolean;
  /** Runs that marked this question as answered. */
  writers(interruptId: string): readonly string[];
  /** Whether a run (this one, or any) gave this question an answer that its task has not taken yet. */
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

/** Declares what was marked of these questions void: their answers were taken back, and their counts begin anew. */
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
