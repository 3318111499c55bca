import {
  type AgUiLine,
  createAgUiFace,
  currentMessages,
  emptyFold,
  type InterruptForm,
  type ThreadFold,
  threadFoldPort,
} from "@throughline/stream-adapter";
import { readFold, type ThreadLog } from "@throughline/thread-log";
import type { ThreadAddress } from "../thread/thread-address.js";
import { encodeEvent } from "./ag-ui-frames.js";

export interface Poll {
  /** The client's own: boundaries it expects, of a run that never was (R29). */
  readonly runId: string;
  readonly line: AgUiLine;
  readonly interrupts: InterruptForm;
}

/** How a thread stands right now, in one short answer. Reads the log and writes nothing, so it is never busy. */
export async function pollFrames(
  service: { readonly log: Pick<ThreadLog, "read" | "snapshot"> },
  thread: ThreadAddress,
  { runId, line, interrupts }: Poll,
): Promise<Buffer[]> {
  const folded = await readFold(service.log, threadFoldPort, thread.ref);
  const fold = folded.kind === "folded" ? folded.state : emptyFold;
  const face = createAgUiFace({ threadName: thread.threadName, line, interrupts });
  const activeRunId = fold.run?.open ? fold.run.run_id : null;
  return face
    .fullPrelude(stoodStill(fold, runId), undefined)
    .map(({ event }) =>
      encodeEvent(
        event.type === "RUN_STARTED"
          ? { ...event, metadata: { throughline: { poll: true, activeRunId } } }
          : event,
      ),
    );
}

/** The fold as if nothing moved: text that streams is told as far as it has come. */
function stoodStill(fold: ThreadFold, runId: string): ThreadFold {
  return {
    ...fold,
    run: {
      run_id: `throughline:poll/${runId}`,
      client_run_id: runId,
      attempt: 0,
      open: false,
      status: "success",
    },
    messages: currentMessages(fold),
    openMessages: [],
    openSteps: [],
    openSubagents: [],
    // While a run is open, what waited before it is answered or void.
    interrupts: fold.run?.open ? [] : fold.interrupts,
  };
}
