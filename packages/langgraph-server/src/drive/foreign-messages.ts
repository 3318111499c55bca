import type { GraphStatePort, Message } from "@throughline/ai-core";
import { currentMessages, type ThreadFold } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";
import type { RunMedia } from "./run-media.js";

/**
 * R14: what people said to a foreign run, as far as the thread shows it at its beginning. It was not sent here, and a stream
 * tells only what models say; without it the answer would stand before the question until the run ends.
 */
export async function foreignMessages(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread }: Pick<RunRecord, "graphId" | "thread">,
  fold: ThreadFold,
  media: Pick<RunMedia, "keep">,
): Promise<readonly Message[]> {
  const shown = new Set(currentMessages(fold).map(({ id }) => id));
  try {
    const checkpoint = await state.getState({ graphId, threadId: thread.threadId });
    media.keep(checkpoint?.files);
    return (checkpoint?.messages ?? []).filter(({ id, role }) => role === "user" && !shown.has(id));
  } catch {
    // The run's end brings it.
    return [];
  }
}
