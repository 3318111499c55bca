import { type GraphDescriptor, invalidInput, type Json } from "@throughline/ai-core";
import { z } from "zod";
import { threadAddress } from "../hub/thread-address.js";
import type { RouteContext, RouteParts, SignedIn } from "./ingress.js";
import { runIdSchema } from "./run-agent-input.js";

const stopSchema = z.strictObject({ runId: runIdSchema.nullish() });

/** Stops the run that a client names by its own id or ours, or whatever is open in the thread. */
export async function stopAgent(
  c: RouteContext,
  { service }: RouteParts,
  { caller }: SignedIn,
  agent: GraphDescriptor,
  threadName: string,
  body: Json | undefined,
): Promise<Response> {
  const thread = threadAddress(caller, agent.graphName, threadName);
  const parsed = stopSchema.safeParse(body ?? {});
  if (!parsed.success) throw invalidInput(parsed.error, "body");
  const outcome = await service.runs.stop(thread, parsed.data.runId ?? undefined);
  // `unknown` counts: a run by that name is cancelled when it arrives.
  const stopped = outcome.kind === "stopping" || outcome.kind === "cancelled" || outcome.kind === "unknown";
  return c.json({ stopped, outcome: outcome.kind, ...("runId" in outcome && { runId: outcome.runId }) });
}
