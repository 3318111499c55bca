import type { GraphDescriptor, Json } from "@throughline/ai-core";
import { z } from "zod";
import type { AuditFacts } from "../../accounts/audit-entry.js";
import type { RunService, StopOutcome } from "../../runs/start-request.js";
import { type ThreadAddress, threadVisibilitySchema } from "../../threads/thread-address.js";
import { type App, type AuthorizedRequest, parseInput, type RouteContext } from "../request.js";
import { threadFor } from "../request-scope.js";
import { runIdSchema } from "./ag-ui-schema.js";

export const stopSchema = z.strictObject({
  runId: runIdSchema
    .nullish()
    .describe("The client's own name of the run, or ours. Absent: all of the thread."),
  visibility: threadVisibilitySchema,
});

export const stoppedSchema = z.object({
  stopped: z.boolean(),
  outcome: z.enum(["stopping", "cancelled", "unknown", "ended", "idle"]),
  runId: z.string().optional(),
});

/** The audit facts of a stop. */
export function stopFacts(outcome: StopOutcome, named: string | undefined): AuditFacts {
  const runId = "runId" in outcome ? outcome.runId : named;
  return { target: { ...(runId !== undefined && { runId }) } };
}

/** Stops the run that a client names by its own id or ours; without one, all runs of the thread. */
export async function stopAgent(
  c: RouteContext,
  { service }: App<{ readonly runs: RunService }>,
  who: AuthorizedRequest,
  agent: GraphDescriptor,
  threadName: string,
  body: Json | undefined,
): Promise<Response> {
  const { runId, visibility } = parseInput(stopSchema, body ?? {}, "body");
  const thread = threadFor(who, { graphName: agent.graphName, threadName, visibility });
  return stopThread(c, { service }, who, thread, runId ?? undefined);
}

export async function stopThread(
  c: RouteContext,
  { service }: { readonly service: { readonly runs: Pick<RunService, "stop"> } },
  who: AuthorizedRequest,
  thread: ThreadAddress,
  runId?: string,
): Promise<Response> {
  const outcome = await service.runs.stop(thread, runId);
  who.audit(stopFacts(outcome, runId));
  // `unknown` counts: a run by that name is cancelled when it arrives.
  const stopped = outcome.kind === "stopping" || outcome.kind === "cancelled" || outcome.kind === "unknown";
  const result: z.output<typeof stoppedSchema> = {
    stopped,
    outcome: outcome.kind,
    ...("runId" in outcome && { runId: outcome.runId }),
  };
  return c.json(result);
}
