import type { SettledThread } from "../conversation/settled/settled-thread";
import { isEdit } from "../conversation/turns/run-origin";

/**
 * The run that left the thread paused. An edit of the state is a run, too, during which the thread stays paused. `null`: a run has
 * begun of which nothing else is known yet; it may be an edit. `undefined`: the thread is not paused.
 */
export function pauseOf({ run, calls }: Pick<SettledThread, "run" | "calls">): string | null | undefined {
  const id = run?.serviceRunId ?? run?.runId;
  if (run?.status === "interrupted") return id;
  if (run?.status !== "running") return undefined;
  const call = calls.find(({ kind, runId }) => kind === "run" && runId === id);
  if (!call) return null;
  return isEdit(call.startedBy) ? id : undefined;
}
