import { newRunId } from "@throughline/ai-core";
import { z } from "zod";
import { runIdSchema } from "../ag-ui/run-agent-input.js";
import type { Arrival } from "../commands/arrivals.js";
import type { RunService, StartRunRequest } from "../drive/run-service.js";
import { requireAccepted } from "../drive/start-refusal.js";
import type { RouteContext, RouteParts, SignedIn } from "../http/ingress.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { callerIn, visibilityOf } from "../thread/visibility.js";

/** Of every request that makes a thread run again. */
export const ownRunId = runIdSchema
  .optional()
  .describe("The caller's own name of the run: the same again attaches to the same run.");

export const startedSchema = z.object({ runId: z.string().describe("The run that has begun.") });

export interface Again
  extends Pick<StartRunRequest, "input" | "command" | "model" | "priorModel" | "config" | "remembersModel"> {
  readonly runId?: string | undefined;
  readonly arrival: Arrival;
}

/** Starts a run that brings nothing new, and gives the service's id of it. */
export async function startAgain(
  c: RouteContext,
  { service, clock }: RouteParts<{ readonly runs: RunService }>,
  who: SignedIn,
  thread: ThreadAddress,
  { runId, ...again }: Again,
): Promise<string> {
  const { requestId, traceparent } = c.get("trace");
  const outcome = await service.runs.start({
    thread,
    caller: callerIn(who.caller, visibilityOf(thread.ref)),
    person: who.caller.subject,
    ingressRequestId: requestId,
    traceparent,
    clientRunId: runId ?? newRunId(clock),
    tools: [],
    context: [],
    profile: "user",
    strategy: "reject",
    ...again,
  });
  const { run } = requireAccepted(outcome);
  who.note({ target: { runId: run.runId } });
  return run.runId;
}
