import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import { readString } from "@throughline/coerce";
import { cannotAskAgain, nodeBefore } from "./node-before.js";

/** How far back the step before a question is looked for: each time it is asked again adds a checkpoint. */
const LOOK_BACK = 20;

/**
 * Makes a checkpoint at which nodes that failed on their answers are yet to run: as if the node before them had just ended.
 * The server keeps a wrong answer with the task that took it, and gives it to that task for ever; a new checkpoint has new
 * tasks. As the asking node itself, the update would pass over the question. `false` where no question failed.
 */
export async function moveBeforeQuestions(client: Client, threadId: string): Promise<boolean> {
  const states = await client.threads.getHistory(threadId, { limit: LOOK_BACK });
  const [newest] = states;
  if (!newest?.tasks.some(hasFailed)) return false;
  // The update would run these again.
  if (newest.tasks.some(isDone)) throw cannotAskAgain("part of this step is done");
  // What was updated has its questions from the checkpoint before.
  const asked = states.findIndex(({ metadata }) => readString(metadata, "source") !== "update");
  const before = asked < 0 ? undefined : states[asked + 1];
  const node = nodeBefore(
    before?.next ?? [],
    newest.tasks.map(({ name }) => name),
  );
  await client.threads.updateState(threadId, { values: {}, asNode: node });
  return true;
}

type Task = ThreadState["tasks"][number];

function hasFailed({ error, interrupts }: Task): boolean {
  return error != null && interrupts.length > 0;
}

function isDone({ result }: Task): boolean {
  return result != null;
}
