import type { ThreadRow } from "../../data/thread-lists";

/** A thread of one agent, in which something happened then. */
export function threadRow(
  threadName: string,
  lastActivityAt = 0,
  more: Partial<Pick<ThreadRow, "status" | "title">> = {},
): ThreadRow {
  return {
    threadName,
    agentId: "langgraph:poet",
    title: null,
    visibility: undefined,
    archived: false,
    status: "idle",
    lastActivityAt,
    ...more,
  };
}
