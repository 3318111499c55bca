import type { RunView } from "@throughline/agent-client";
import type { Status } from "../design/status-dot";
import type { ThreadRow } from "../service/queries/threads";
import { rowKey } from "./thread-row";

/** A thread as it stands right now, by a stream or a poll: newer than any list. */
export interface LiveThread {
  readonly threadName: string;
  readonly visibility?: "account" | undefined;
  readonly status: ThreadRow["status"];
}

/** `undefined`: nothing is known of it yet. */
export function liveStatus(run: RunView | null, hasQuestions: boolean): ThreadRow["status"] | undefined {
  if (!run) return undefined;
  if (run.status === "running") return "running";
  if (hasQuestions || run.status === "interrupted") return "waiting";
  return run.status === "error" ? "error" : "idle";
}

export function withLive(rows: readonly ThreadRow[], live: LiveThread | undefined): readonly ThreadRow[] {
  if (!live) return rows;
  return rows.map((row) => (rowKey(row) === rowKey(live) ? { ...row, status: live.status } : row));
}

/**
 * One word for all threads of an agent. What waits for a person comes first; a failure counts as long as nothing newer has
 * happened.
 */
export function agentStatus(rows: readonly ThreadRow[], hasNextTick: boolean): Status {
  const has = (status: ThreadRow["status"]) => rows.some((row) => row.status === status);
  if (has("waiting")) return "waiting";
  if (has("running")) return "running";
  if (newestOf(rows)?.status === "error") return "error";
  return hasNextTick ? "scheduled" : "idle";
}

export function newestOf(rows: readonly ThreadRow[]): ThreadRow | undefined {
  return rows.reduce<ThreadRow | undefined>(
    (newest, row) => (newest && newest.lastActivityAt >= row.lastActivityAt ? newest : row),
    undefined,
  );
}

/** Where a person who picks an agent wants to be: at what waits for them, else where something happened last. */
export function threadToOpen(rows: readonly ThreadRow[]): ThreadRow | undefined {
  return newestOf(rows.filter(({ status }) => status === "waiting")) ?? newestOf(rows);
}
