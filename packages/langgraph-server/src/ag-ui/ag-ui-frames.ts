import { type Json, type JsonObject, toWireError } from "@throughline/ai-core";
import { earlyEndError } from "../http/early-end.js";
import type { Ending } from "../http/subscribe-stream.js";
import { encodeSseFrame } from "../hub/sse-frame.js";

export interface FailureIds {
  readonly threadName: string;
  readonly runId: string;
}

export function encodeEvent(event: object): Buffer {
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
 * What a watcher hears before a stream ends early. An open run gets a terminal, because clients wait for one; without an id,
 * so that the cursor they hold still brings them back to the run itself.
 */
export function agUiLastWords(ids: FailureIds, ending: Ending, last: Buffer | undefined): Buffer[] {
  if (ending.reason === "done") return [];
  const error = earlyEndError(ending.reason);
  if (last === undefined) return failureFrames(ids, error);
  const isOpen = ending.reason === "expired" ? !isTerminal(last) : ending.runOpen;
  if (isOpen) return [encodeEvent(runError(error))];
  // Whoever followed would come back for ever: only this tells that there is nothing to come back to.
  return ending.reason === "deleted" ? failureFrames(ids, error) : [];
}

function runError(error: unknown): JsonObject {
  const { code, message, hint, details } = toWireError(error);
  const facts: { [key: string]: Json } = { hint, ...(details && { details }) };
  return { type: "RUN_ERROR", message, code, metadata: { throughline: facts } };
}

/** Only asked when a token expires, so that counting open runs costs nothing per frame. */
function isTerminal(frame: Buffer): boolean {
  const text = frame.toString();
  const data = text.slice(text.lastIndexOf("\ndata: ") + "\ndata: ".length);
  return /^(?:data: )?\{"type":"RUN_(?:FINISHED|ERROR)"/.test(data);
}
