import type { GraphDescriptor, Json } from "@throughline/ai-core";
import { z } from "zod";
import type { RunService } from "../drive/run-service.js";
import { checked } from "../http/checked-request.js";
import type { RouteContext, RouteParts, SignedIn } from "../http/ingress.js";
import { threadAddress } from "../thread/thread-address.js";
import { runIdSchema } from "./run-agent-input.js";

export const stopSchema = z.strictObject({
  runId: runIdSchema
    .nullish()
    .describe("The client's own name of the run, or ours. Absent: all of the thread."),
});

export const stoppedSchema = z.object({
  stopped: z.boolean(),
  outcome: z.enum(["stopping", "cancelled", "unknown", "ended", "idle"]),
  runId: z.string().optional(),
});

/** Stops the run that a client names by its own id or ours; without one, everything that was asked of the thread. */
export async function stopAgent(
  c: RouteContext,
  { service }: RouteParts<{ readonly runs: RunService }>,
  { caller }: SignedIn,
  agent: GraphDescriptor,
  threadName: string,
  body: Json | undefined,
): Promise<Response> {
  const thread = threadAddress(caller, agent.graphName, threadName);
  const { runId } = checked(stopSchema, body ?? {}, "body");
  const outcome = await service.runs.stop(thread, runId ?? undefined);
  // `unknown` counts: a run by that name is cancelled when it arrives.
  const stopped = outcome.kind === "stopping" || outcome.kind === "cancelled" || outcome.kind === "unknown";
  const answer: z.output<typeof stoppedSchema> = {
    stopped,
    outcome: outcome.kind,
    ...("runId" in outcome && { runId: outcome.runId }),
  };
  return c.json(answer);
}
