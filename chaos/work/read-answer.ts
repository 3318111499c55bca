import { z } from "zod";
import { sseEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import type { Sent } from "../check/history.js";

type Answer = Sent["fate"];

/** Errors that pass: the request is sent again. */
const PASSING = new Set([
  "store_unavailable",
  "shutting_down",
  "rate_limited",
  "upstream_unavailable",
  "internal",
]);

/**
 * The service's own name of the run that a frame belongs to. A refusal names none; its details may name another run, the one that
 * is in the way.
 */
const ownRunSchema = z.object({ metadata: z.object({ throughline: z.object({ runId: z.string() }) }) });

/** Whether a stream tells of a run that was accepted, or begins with a refusal. `reads`: to its end. */
export async function readAnswer(response: Response, reads: boolean): Promise<Answer> {
  let answer: Answer = "unknown";
  try {
    for await (const { id, data } of sseEvents(response)) {
      if (id !== undefined || ownRunSchema.safeParse(data).success) answer = "accepted";
      else if (data.type === "RUN_ERROR" && answer === "unknown")
        return PASSING.has(String(data.code)) ? "unknown" : "refused";
      if (answer === "accepted" && !reads) break;
    }
  } catch {
    // Cut: the answer is what was read until then.
  }
  return answer;
}
