import { isDeepStrictEqual } from "node:util";
import { type Json, type JsonObject, toWireError } from "@throughline/ai-core";
import {
  type AgUiVersion,
  createAgUiEncoder,
  currentMessages,
  type InterruptForm,
  type ThreadProjection,
} from "@throughline/reading";
import { encodeSseFrame } from "../../streams/frame-encoders.js";
import type { ThreadReading } from "../../streams/stream-types.js";
import { type StreamEnd, streamEndError } from "../stream-thread.js";

export interface FailureIds {
  readonly threadName: string;
  readonly runId: string;
}

function encodeEvent(event: object): Buffer {
  return encodeSseFrame({ data: JSON.stringify(event) });
}

/** Encodes a failure for stock clients, as a run that started and failed. The frames have no id: they are not in the log. */
export function failureFrames({ threadName, runId }: FailureIds, error: unknown): Buffer[] {
  return [encodeEvent({ type: "RUN_STARTED", threadId: threadName, runId }), encodeEvent(runError(error))];
}

/** Encodes an empty run, the response to a command that starts none. */
export function emptyRunFrames({ threadName, runId }: FailureIds, metadata: JsonObject): Buffer[] {
  const ids = { threadId: threadName, runId };
  return [
    encodeEvent({ type: "RUN_STARTED", ...ids }),
    encodeEvent({ type: "RUN_FINISHED", ...ids, metadata: { throughline: metadata } }),
  ];
}

/**
 * The final frames of a stream that ends early. An open run gets a terminal, because clients wait for one; without an
 * id, so that clients still reconnect to the run itself with their cursor. A stream that broke on our side gets none: the
 * run continues, and stock clients would treat a RUN_ERROR as its end.
 */
export function finalAgUiFrames(ids: FailureIds, end: StreamEnd, hasFrames: boolean): Buffer[] {
  if (end.reason === "done" || end.reason === "failed") return [];
  const error = streamEndError(end.reason);
  if (!hasFrames) return failureFrames(ids, error);
  if (end.runOpen) return [encodeEvent(runError(error))];
  // Without an error, a client that follows a deleted thread would reconnect for ever.
  return end.reason === "deleted" ? failureFrames(ids, error) : [];
}

function runError(error: unknown): JsonObject {
  const { code, message, hint, details } = toWireError(error);
  const facts: { [key: string]: Json } = { hint, ...(details && { details }) };
  return { type: "RUN_ERROR", message, code, metadata: { throughline: facts } };
}

export interface Poll {
  readonly threadName: string;
  /** The client's own run id: it expects the boundaries of a run, although none exists (R29). */
  readonly runId: string;
  readonly line: AgUiVersion;
  readonly interrupts: InterruptForm;
  /** Creates a link to an attachment, where the client gets links. */
  readonly fileUrl: ((attachmentId: string) => string) | undefined;
}

/**
 * Encodes a thread's current state in one short response. A poller that sends its cursor gets only what changed since: state
 * and messages that have not changed are left out. The last frame's id is the cursor of the next poll.
 */
export function pollFrames(
  reading: ThreadReading,
  { threadName, runId, line, interrupts, fileUrl }: Poll,
): Buffer[] {
  const { fold, position, before } = reading;
  const face = createAgUiEncoder({ threadName, line, interrupts, fileUrl });
  const throughline = {
    poll: true,
    activeRunId: fold.run?.open ? fold.run.run_id : null,
    lastRun: fold.run && { runId: fold.run.run_id, status: fold.run.open ? "running" : fold.run.status },
  };
  const unchanged = before ? unchangedSections(before, fold) : new Set<string>();
  return face
    .fullSnapshot(idleSnapshot(fold, runId), position)
    .filter(({ event }) => !unchanged.has(event.type))
    .map(({ id, event }) => {
      const sent = event.type === "RUN_STARTED" ? { ...event, metadata: { throughline } } : event;
      return encodeSseFrame({ ...(id !== undefined && { id }), data: JSON.stringify(sent) });
    });
}

function unchangedSections(before: ThreadProjection, now: ThreadProjection): ReadonlySet<string> {
  const unchanged = new Set<string>();
  if (isDeepStrictEqual(before.state, now.state)) unchanged.add("STATE_SNAPSHOT");
  if (isDeepStrictEqual(currentMessages(before), currentMessages(now))) unchanged.add("MESSAGES_SNAPSHOT");
  return unchanged;
}

/** Returns the projection without an open run: a streaming text is a message with the text so far. */
function idleSnapshot(fold: ThreadProjection, runId: string): ThreadProjection {
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
    // While a run is open, earlier interrupts are resolved or void.
    interrupts: fold.run?.open ? [] : fold.interrupts,
  };
}
