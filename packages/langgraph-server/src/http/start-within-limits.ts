import type { StartOutcome, StartRunRequest } from "../drive/run-service.js";
import type { HandlerService, RouteParts, SignedIn } from "./ingress.js";
import { refusalOf } from "./start-refusal.js";

interface Admission extends Pick<RouteParts, "usage"> {
  readonly service: Pick<HandlerService, "runs" | "registry">;
}

/** A start that left a run to watch. */
export type WatchableStart = Extract<StartOutcome, { run: unknown }>;

/** Starts a run if the account may have one more, whichever instances have the others. Throws what refuses it. */
export async function startWithinLimits(
  { service, usage }: Admission,
  { caller, limits }: Pick<SignedIn, "caller" | "limits">,
  request: StartRunRequest,
): Promise<WatchableStart> {
  const account = caller.billingAccountId;
  const place = await usage.start(account, limits, () => service.registry.countOpen(account));
  try {
    const outcome = await service.runs.start(request);
    switch (outcome.kind) {
      case "started":
      case "queued":
      case "attached":
      case "cancelled":
        return outcome;
      default:
        throw refusalOf(outcome);
    }
  } finally {
    place.leave();
  }
}
