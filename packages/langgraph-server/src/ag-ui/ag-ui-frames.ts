import { type Json, type JsonObject, toWireError } from "@throughline/ai-core";
import { earlyEndError } from "../http/early-end.js";
import type { Ending } from "../http/subscribe-stream.js";
import { encodeSseFrame } from "../hub/sse-frame.js";

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
