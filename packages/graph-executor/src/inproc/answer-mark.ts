import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { readNumber } from "@throughline/coerce";
import type { Question } from "./open-task.js";

const ANSWERED_CHANNEL = "__throughline_answered__";

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
  /** Whether a run (this one, or any) gave this question an answer that its task has not taken yet. */
  isAnswered(question: Question, runId?: string): boolean;
}

export function readAnswerMarks(tuple: CheckpointTuple | undefined): AnswerMarks {
  const marks = (tuple?.pendingWrites ?? []).filter(([, channel]) => channel === ANSWERED_CHANNEL);
  return {
    has: (runId) => marks.some(([writer]) => writer === runId),
    isAnswered: (question, runId) =>
      marks.some(
        ([writer, , counts]) =>
          (runId === undefined || writer === runId) &&
          readNumber(counts, question.interrupt_id) === question.consumed,
      ),
  };
}
