import { newRunId } from "@throughline/ai-core";
import { z } from "zod";
import type { RunService, StartRunRequest } from "../../runs/start-request.js";
import { requireAccepted } from "../../runs/start-run.js";
import type { Arrival } from "../../runs/stop-runs.js";
import { callerIn, type ThreadAddress, visibilityOf } from "../../threads/thread-address.js";
import type { App, AuthorizedRequest, RouteContext } from "../request.js";
import { runIdSchema } from "./ag-ui-schema.js";

/** The client run id of a request that repeats a run. */
export const ownRunId = runIdSchema
  .optional()
  .describe("The caller's own name of the run: the same again attaches to the same run.");

export const startedSchema = z.object({ runId: z.string().describe("The run that has begun.") });

export interface RerunRequest
  extends Pick<StartRunRequest, "input" | "command" | "model" | "priorModel" | "config" | "remembersModel"> {
  readonly runId?: string | undefined;
  readonly arrival: Arrival;
}

/** Starts a run without new input, and returns its id. */
export async function startRerun(
  c: RouteContext,
  { service, clock }: App<{ readonly runs: RunService }>,
  who: AuthorizedRequest,
  thread: ThreadAddress,
  { runId, ...again }: RerunRequest,
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
  who.audit({ target: { runId: run.runId } });
  return run.runId;
}
