import type { StreamFailure } from "../connection/connection.js";
import { factsOf } from "../projection/project-frame.js";
import type { AgentFrame } from "../wire/agent-event.js";

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
export function withoutLastWords(frames: readonly AgentFrame[]): ToldFrames {
  const isOfStream = ({ id, event }: AgentFrame) =>
    id === undefined && (event.type === "RUN_ERROR" || event.type === "RUN_STARTED") && !factsOf(event).runId;
  const last = frames.find((frame) => isOfStream(frame) && frame.event.type === "RUN_ERROR")?.event;
  if (last?.type !== "RUN_ERROR") return { frames: withoutStreamRuns(), failure: undefined };
  const { code = "internal", message } = last;
  return {
    frames: withoutStreamRuns(),
    failure: { kind: "refused", status: STATUS_OF[code] ?? 503, code, message },
  };

  function withoutStreamRuns(): readonly AgentFrame[] {
    return frames.some(isOfStream) ? frames.filter((frame) => !isOfStream(frame)) : frames;
  }
}
