import type { StartLook, StartResult, StartRun } from "../port/start-run.js";

/** The request was written before, and its answer was lost: the run is still the caller's to drive. */
export function ownStart(
  { runId, owner, isRetry }: StartRun,
  { same, head, runs }: StartLook,
): StartResult | undefined {
  if (!isRetry || same?.runId !== runId || head === undefined) return undefined;
  const fence = { threadId: same.thread.threadId, runId, token: same.token };
  if (same.status === "running" && same.owner === owner) return { kind: "started", run: same, fence, head };
  if (same.status !== "queued") return undefined;
  const ahead = runs.queued.indexOf(runId) + (runs.running === undefined ? 0 : 1);
  return { kind: "queued", run: same, ahead, preempted: undefined };
}
