import type { RunOrigin } from "../../conversation/turns/run-origin";
import type { Status } from "../../design/status-dot";
import type { Run } from "../../service/queries/runs";

export const RUN_STATUS_WORDS: Readonly<Record<Run["status"], string>> = {
  queued: "Waiting its turn",
  running: "Running",
  success: "Done",
  interrupted: "Asked a question",
  cancelled: "Stopped",
  error: "Failed",
  lost: "Lost",
};

export function runDot(status: Run["status"]): Status {
  switch (status) {
    case "running":
      return "running";
    case "queued":
      return "scheduled";
    case "interrupted":
      return "waiting";
    case "error":
    case "lost":
      return "error";
    case "success":
    case "cancelled":
      return "idle";
  }
}

/** A client's run from before the page was opened counts as your own: its tab is gone. */
export function starterOf(run: Run, isOwn: boolean, openedAt: number): RunOrigin {
  if (run.startedBy.kind === "cron") return "schedule";
  if (run.startedBy.kind === "foreign") return "outsider";
  return isOwn || Date.parse(run.createdAt) < openedAt ? "you" : "another-tab";
}

export function tokenWords(count: number): string {
  return `${new Intl.NumberFormat("en").format(count)} ${count === 1 ? "token" : "tokens"}`;
}
