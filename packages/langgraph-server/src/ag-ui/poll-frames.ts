import { isDeepStrictEqual } from "node:util";
import {
  type AgUiLine,
  createAgUiFace,
  currentMessages,
  type InterruptForm,
  type ThreadFold,
} from "@throughline/reading";
import { encodeSseFrame } from "../hub/sse-frame.js";
import type { ThreadReading } from "../hub/thread-hub.js";

export interface Poll {
  readonly threadName: string;
  /** The client's own: boundaries it expects, of a run that never was (R29). */
  readonly runId: string;
  readonly line: AgUiLine;
  readonly interrupts: InterruptForm;
  /** A link to an attachment, where the client is given links. */
  readonly fileUrl: ((attachmentId: string) => string) | undefined;
}

/**
 * How a thread stands right now, in one short answer. A poller that sends its cursor is told only what changed since: state
 * and messages that are as they were are left out. The last frame's id is the cursor of the next poll.
 */
export function pollFrames(
  reading: ThreadReading,
  { threadName, runId, line, interrupts, fileUrl }: Poll,
): Buffer[] {
  const { fold, position, before } = reading;
  const face = createAgUiFace({ threadName, line, interrupts, fileUrl });
  const throughline = {
    poll: true,
    activeRunId: fold.run?.open ? fold.run.run_id : null,
    lastRun: fold.run && { runId: fold.run.run_id, status: fold.run.open ? "running" : fold.run.status },
  };
  const unchanged = before ? unchangedSections(before, fold) : new Set<string>();
  return face
    .fullPrelude(standingStill(fold, runId), position)
    .filter(({ event }) => !unchanged.has(event.type))
    .map(({ id, event }) => {
      const told = event.type === "RUN_STARTED" ? { ...event, metadata: { throughline } } : event;
      return encodeSseFrame({ ...(id !== undefined && { id }), data: JSON.stringify(told) });
    });
}

function unchangedSections(before: ThreadFold, now: ThreadFold): ReadonlySet<string> {
  const unchanged = new Set<string>();
  if (isDeepStrictEqual(before.state, now.state)) unchanged.add("STATE_SNAPSHOT");
  if (isDeepStrictEqual(currentMessages(before), currentMessages(now))) unchanged.add("MESSAGES_SNAPSHOT");
  return unchanged;
}

/** The fold as if nothing moved: text that streams is told as far as it has come. */
function standingStill(fold: ThreadFold, runId: string): ThreadFold {
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
