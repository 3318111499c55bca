import { type BaseCheckpointSaver, RESUME } from "@langchain/langgraph-checkpoint";
import { voidMarks } from "./answer-mark.js";
import type { Question } from "./open-task.js";
import type { ThreadReading } from "./thread-reading.js";

/**
 * Makes questions open again whose nodes failed on their answers. LangGraph keeps an answer with the task that took it and
 * gives it to that task for ever, so that the right answer after a wrong one fails as well. Overwritten with none, the task
 * asks anew when it runs. Nothing else of the step is touched: what its other tasks have done is not done again.
 */
export async function takeBackAnswers(
  saver: BaseCheckpointSaver,
  reading: Pick<ThreadReading, "tuple" | "marks">,
  runId: string,
  questions: readonly Question[],
): Promise<void> {
  const { tuple, marks } = reading;
  if (!tuple) return;
  // First: a run that dies in between finds questions that still look answered, and takes their answers back again.
  for (const { asker, interrupt_id } of questions) {
    const thread_id = tuple.config.configurable?.thread_id;
    const asked = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: asker.ns.join("|") } });
    if (asked) await saver.putWrites(asked.config, [[RESUME, []]], asker.taskId);
    // Where LangGraph keeps an answer that was given by the question's id.
    await saver.putWrites(tuple.config, [[RESUME, []]], interrupt_id);
  }
  await voidMarks(saver, tuple, runId, marks, questions);
}
