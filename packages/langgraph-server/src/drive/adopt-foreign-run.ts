import { type ForeignRunName, newRunId } from "@throughline/ai-core";
import type { LeasedRun } from "@throughline/thread-log";
import { emptyRequest, toRunRow } from "../thread/run-request.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import type { DriverDeps } from "./driver-deps.js";

/**
 * R5: a foreign run becomes a row like any other, under a name that every instance gives it, so one of them drives it. Gives
 * the run to drive; `undefined` when it is driven already, or waits behind a run of ours that is open (R24) and is claimed
 * from the queue like any other.
 */
export async function adoptForeignRun(
  { registry, clock, lease }: Pick<DriverDeps, "registry" | "clock" | "lease">,
  { ref, graphId, stateKey, threadName }: ThreadAddress,
  { upstreamRunId, dialect }: ForeignRunName,
): Promise<LeasedRun | undefined> {
  const name = `upstream:${upstreamRunId}`;
  const started = await registry.start({
    ...lease,
    thread: ref,
    stateKey,
    runId: newRunId(clock),
    alias: name,
    graphId,
    origin: { kind: "foreign", id: upstreamRunId },
    // Answers nothing here, so it passes while a question is open: the upstream let it pass.
    start: { kind: "resume", answers: {} },
    request: toRunRow(emptyRequest("foreign", { ref, stateKey }, name, dialect)),
    upstreamRunId,
    strategy: "enqueue",
    listing: { threadName, derivedTitle: undefined },
  });
  return started.kind === "started" ? started : undefined;
}
