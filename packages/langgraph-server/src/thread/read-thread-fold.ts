import type { GraphStatePort, LogPosition } from "@throughline/ai-core";
import { emptyFold, type ThreadFold, threadFoldPort } from "@throughline/stream-adapter";
import { readFold, type ThreadLog } from "@throughline/thread-log";
import type { ThreadAddress } from "./thread-address.js";

export interface ReadFold {
  readonly fold: ThreadFold;
  /** What the fold includes; `undefined` when the thread has no log. */
  readonly position: LogPosition | undefined;
}

/** What the thread shows. R20: where the log no longer has it, the checkpoint has what is worth showing. */
export async function readThreadFold(
  { log, state }: { readonly log: Pick<ThreadLog, "read" | "snapshot">; readonly state: GraphStatePort },
  { ref, graphId }: Pick<ThreadAddress, "ref" | "graphId">,
): Promise<ReadFold> {
  const answer = await readFold(log, threadFoldPort, ref);
  if (answer.kind === "folded") return { fold: answer.state, position: answer.position };
  if (answer.kind === "deleted") return { fold: emptyFold, position: undefined };
  const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
  const fold: ThreadFold = checkpoint
    ? {
        ...emptyFold,
        state: checkpoint.state,
        messages: checkpoint.messages,
        interrupts: checkpoint.interrupts,
        checkpoint_id: checkpoint.checkpointId,
      }
    : emptyFold;
  return { fold, position: answer.head };
}
