import type { Caller } from "@throughline/ai-core";
import type { RunRegistry } from "@throughline/thread-log";
import type { AccountLimits, AccountUsage } from "../tenancy/account-limits.js";
import type { RunService, StartOutcome, StartRunRequest } from "./run-service.js";
import { refusalOf } from "./start-refusal.js";

interface Admission {
  readonly usage: AccountUsage;
  readonly service: {
    readonly runs: Pick<RunService, "start">;
    readonly registry: Pick<RunRegistry, "countOpen">;
  };
}

/** A start that left a run to watch. */
export type WatchableStart = Extract<StartOutcome, { run: unknown }>;

/** Starts a run if the account may have one more, whichever instances have the others. Throws what refuses it. */
export async function startWithinLimits(
  { service, usage }: Admission,
  { caller, limits }: { readonly caller: Caller; readonly limits: AccountLimits },
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
