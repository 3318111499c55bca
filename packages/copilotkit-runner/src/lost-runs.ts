import type { Clock } from "@throughline/ai-core";
import type { Lease, LeasedRun, RunRecord, RunRegistry, ThreadLog } from "@throughline/thread-log";
import { createRunEnvelopes } from "./conversation/conversation.js";
import { textOf } from "./events.js";
import { failed } from "./record-run.js";

export interface LostRunsDeps {
  readonly log: Pick<ThreadLog, "append">;
  readonly registry: Pick<RunRegistry, "claimExpired">;
  readonly lease: Lease;
  readonly clock: Clock;
}

const PER_CLAIM = 16;

/**
 * Ends every run whose process is gone, of any thread. An agent stores no checkpoint that another process could continue from,
 * so the run is lost. Of several instances one gets each run.
 */
export async function endLostRuns(deps: LostRunsDeps): Promise<void> {
  for (;;) {
    const claimed = await deps.registry.claimExpired(deps.lease, PER_CLAIM);
    await Promise.all(claimed.map((leased) => endLost(deps, leased)));
    if (claimed.length < PER_CLAIM) return;
  }
}

async function endLost({ log, clock }: LostRunsDeps, { run, fence }: LeasedRun): Promise<void> {
  const { thread, runId, attempt, request, graphId } = run;
  const envelopes = createRunEnvelopes({
    clock,
    threadId: thread.threadId,
    runId,
    attempt,
    agentId: textOf(request.agentId) ?? graphId,
  });
  const { event, entry, status } = failed(
    { threadId: textOf(request.threadId) ?? "", runId: clientRunId(run) },
    "run_lost",
    "The server that ran the agent is gone. What it had said until then is kept.",
  );
  await log.append(thread, [envelopes.event(event), envelopes.end(entry)], fence, { finish: { status } });
}

/** The client's own id of the run. */
export function clientRunId({ request, runId }: RunRecord): string {
  return textOf(request.runId) ?? runId;
}
