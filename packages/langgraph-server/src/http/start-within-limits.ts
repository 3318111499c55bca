import type { StartOutcome, StartRunRequest } from "../drive/run-service.js";
import type { RouteParts, SignedIn } from "./ingress.js";
import { refusalOf } from "./start-refusal.js";

/** A start that left a run to watch. */
export type WatchableStart = Extract<StartOutcome, { run: unknown }>;

/** Starts a run if the account may have one more, and holds its place until the run has ended. Throws what refuses it. */
export async function startWithinLimits(
  { service, usage }: RouteParts,
  { caller, limits }: SignedIn,
  request: StartRunRequest,
): Promise<WatchableStart> {
  const place = await usage.run(caller.billingAccountId, limits);
  try {
    const outcome = await service.runs.start(request);
    switch (outcome.kind) {
      case "started":
      case "queued": {
        const { runId } = outcome.run;
        place.holdFor(runId, async () => {
          const found = await service.registry.find(request.thread.ref, { runId });
          return found?.status === "queued" || found?.status === "running";
        });
        return outcome;
      }
      case "attached":
      case "cancelled":
        place.leave();
        return outcome;
      default:
        throw refusalOf(outcome);
    }
  } catch (error) {
    place.leave();
    throw error;
  }
}
