import { type GraphStatePort, type GraphThread, ThroughlineError } from "@throughline/ai-core";

const PER_READ = 20;
/** A page holds the conversation as often as it has checkpoints, so how far it looks back is bounded. */
const MAX_READS = 25;

/**
 * The checkpoint from which an assistant's message was made: going on from it makes it anew. Follows the newest checkpoint's
 * parents, because a thread may hold branches that were left. Throws `invalid_input` for another's message, `not_found` where
 * the message, or the checkpoint before it, is not there any more.
 */
export async function checkpointBefore(
  state: Pick<GraphStatePort, "getState" | "history">,
  thread: GraphThread,
  messageId: string,
): Promise<string> {
  const newest = await state.getState(thread);
  const message = newest?.messages?.find(({ id }) => id === messageId);
  if (!newest || !message) throw missing("There is no such message in this thread.");
  if (message.role !== "assistant") {
    throw new ThroughlineError("invalid_input", "messageId: is not an assistant's message", {
      details: { field: "messageId" },
    });
  }
  let wanted = newest.parentCheckpointId;
  let before: string | undefined = newest.checkpointId;
  for (let reads = 0; reads < MAX_READS && wanted !== undefined && before !== undefined; reads += 1) {
    const page = await state.history(thread, { limit: PER_READ, before });
    for (const checkpoint of page) {
      if (checkpoint.checkpointId !== wanted) continue;
      const isBefore = !checkpoint.messages?.some(({ id }) => id === messageId);
      if (isBefore && checkpoint.next.length > 0) return checkpoint.checkpointId;
      if (isBefore) throw missing("No step of the graph made this message, so it can't be made again.");
      wanted = checkpoint.parentCheckpointId;
    }
    before = page.length < PER_READ ? undefined : page.at(-1)?.checkpointId;
  }
  throw missing("The checkpoint before this message is not kept any more.");
}

function missing(why: string): ThroughlineError {
  return new ThroughlineError("not_found", `messageId: ${why}`, { details: { field: "messageId" } });
}
