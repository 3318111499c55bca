import { newId, type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService } from "../../service/ask-service";

const historySchema = z.object({
  checkpoints: z.array(
    z.object({ checkpointId: z.string(), next: z.array(z.string()), messageIds: z.array(z.string()) }),
  ),
  next: z.nullable(z.string()),
});
type Checkpoint = z.output<typeof historySchema>["checkpoints"][number];

/** The newest moment at which the agent was done and the message had not been said. Newest first. */
export function momentBefore(messageId: string, checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  const said = checkpoints.findLastIndex(({ messageIds }) => messageIds.includes(messageId));
  return checkpoints
    .slice(said + 1)
    .find(({ next, messageIds }) => next.length === 0 && messageIds.length > 0);
}

/** Begins a thread just before a message, and says how it is called. Before the first message there is nothing to begin from. */
export async function forkBefore(thread: ThreadName, messageId: string): Promise<string> {
  const threadName = newId(Date.now());
  const seen: Checkpoint[] = [];
  let before = "";
  do {
    const page = await askService(
      threadCall(thread, "/history", { limit: "50", ...(before && { before }) }),
      historySchema,
    );
    seen.push(...page.checkpoints);
    const isPast = seen.at(-1)?.messageIds.includes(messageId) === false;
    const moment = isPast ? momentBefore(messageId, seen) : undefined;
    if (moment) {
      await askService(threadCall(thread, "/fork"), z.unknown(), {
        method: "POST",
        body: { threadName, checkpointId: moment.checkpointId },
      });
      return threadName;
    }
    before = page.next ?? "";
  } while (before !== "");
  return threadName;
}
