import type { StreamFailure } from "../connection/connection.js";
import { type AgentFrame, factsOf } from "../wire/agent-event.js";

/** What a stream told of the thread, and why it ends if it said so. */
export interface ToldFrames {
  readonly frames: readonly AgentFrame[];
  readonly failure: StreamFailure | undefined;
}

const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_input: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  rate_limited: 429,
};

/**
 * The service ends a stream early with a failed run, because stock clients see nothing else. It has neither a cursor nor a run of
 * the service's: it is about the stream, and the run that was watched goes on without it.
 */
export function withoutLastWords(all: readonly AgentFrame[]): ToldFrames {
  let failure: StreamFailure | undefined;
  const frames = all.filter(({ id, event }) => {
    if (id !== undefined || factsOf(event).runId) return true;
    if (event.type !== "RUN_ERROR") return event.type !== "RUN_STARTED";
    const { code = "internal", message } = event;
    failure ??= { kind: "refused", status: STATUS_OF[code] ?? 503, code, message };
    return false;
  });
  return { frames, failure };
}
