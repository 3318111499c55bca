import type { RunRecord } from "@throughline/thread-log";
import { z } from "zod";

/** What a run is called on every hop, in logs and spans. Never what it says. */
export interface RunNote {
  readonly runId: string;
  readonly graphId: string;
  readonly account: string;
  readonly traceId: string;
  readonly attempt: number;
  /** Of the request that asked for it, whichever instance that came to. */
  readonly traceparent: string | undefined;
}

const notedSchema = z.object({
  caller: z.object({ traceId: z.string() }),
  traceparent: z.string().optional(),
});

/** Asks little of the row: a run that can't be driven must still be named when that is told. */
export function noteOf({ runId, graphId, thread, attempt, request }: RunRecord): RunNote {
  const noted = notedSchema.safeParse(request).data;
  return {
    runId,
    graphId,
    account: thread.account,
    traceId: noted?.caller.traceId ?? "unknown",
    attempt,
    traceparent: noted?.traceparent,
  };
}
