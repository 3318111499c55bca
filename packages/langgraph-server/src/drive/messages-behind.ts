import { type GraphStatePort, isStoreOutage } from "@throughline/ai-core";
import { isConversation, type ThreadFold } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";

/**
 * Messages that the thread shows behind a checkpoint, with what was said beside them: a run that goes back to it takes them
 * back before it begins. None where the checkpoint can't be read: then the run itself fails.
 */
export async function messagesBehind(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread: { threadId } }: Pick<RunRecord, "graphId" | "thread">,
  checkpointId: string,
  { messages: shown }: Pick<ThreadFold, "messages">,
): Promise<readonly string[]> {
  const checkpoint = await readOrNone(() => state.getState({ graphId, threadId }, checkpointId));
  // A graph without messages can't tell which of them were there.
  if (!checkpoint?.messages) return [];
  const held = new Set(checkpoint.messages.map(({ id }) => id));
  const first = shown.findIndex((message) => isConversation(message) && !held.has(message.id));
  if (first < 0) return [];
  return shown
    .slice(first)
    .map(({ id }) => id)
    .filter((id) => !held.has(id));
}

async function readOrNone<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isStoreOutage(error)) throw error;
    return undefined;
  }
}
