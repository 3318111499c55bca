import { isDeepStrictEqual } from "node:util";
import { type Json, type JsonObject, toWireError } from "@throughline/ai-core";
import {
  type AgUiLine,
  createAgUiFace,
  currentMessages,
  type InterruptForm,
  type ThreadFold,
} from "@throughline/reading";
import { encodeSseFrame } from "../../streams/frame-encoders.js";
import type { ThreadReading } from "../../streams/stream-types.js";
import { type Ending, earlyEndError } from "../stream-thread.js";

export interface FailureIds {
  readonly threadName: string;
  readonly runId: string;
}

function encodeEvent(event: object): Buffer {
  return encodeSseFrame({ data: JSON.stringify(event) });
}

/** A failure as stock clients see it: a run that began and went wrong. Nothing of it has an id: it is not in the log. */
export function failureFrames({ threadName, runId }: FailureIds, error: unknown): Buffer[] {
  return [encodeEvent({ type: "RUN_STARTED", threadId: threadName, runId }), encodeEvent(runError(error))];
}

/** A run that does nothing: the answer to a command that starts none. */
export function emptyRunFrames({ threadName, runId }: FailureIds, metadata: JsonObject): Buffer[] {
  const ids = { threadId: threadName, runId };
  return [
    encodeEvent({ type: "RUN_STARTED", ...ids }),
    encodeEvent({ type: "RUN_FINISHED", ...ids, metadata: { throughline: metadata } }),
  ];
}

/**
 * What a subscriber hears before a stream ends early. An open run gets a terminal, because clients wait for one; without an
 * id, so that the cursor they hold still brings them back to the run itself. A stream that broke on our side gets none: the
 * run goes on, and stock clients would take a RUN_ERROR for its end.
 */
export function agUiLastWords(ids: FailureIds, ending: Ending, hasFrames: boolean): Buffer[] {
  if (ending.reason === "done" || ending.reason === "failed") return [];
  const error = earlyEndError(ending.reason);
  if (!hasFrames) return failureFrames(ids, error);
  if (ending.runOpen) return [encodeEvent(runError(error))];
  // Without it a client that follows would reconnect for ever.
  return ending.reason === "deleted" ? failureFrames(ids, error) : [];
}

function runError(error: unknown): JsonObject {
  const { code, message, hint, details } = toWireError(error);
  const facts: { [key: string]: Json } = { hint, ...(details && { details }) };
  return { type: "RUN_ERROR", message, code, metadata: { throughline: facts } };
}

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
