import { type ThreadName, threadCall } from "@throughline/agent-client";

/** Names of what the cache holds. A change names the beginning of all keys that it makes old. */
export const keys = {
  agents: ["agents"],
  caller: ["caller"],
  models: ["models"],
  /** All lists of threads. */
  threads: ["threads"],
  activity: (agentIds: readonly string[] | undefined, withShared: boolean | undefined) => [
    "threads",
    "activity",
    agentIds,
    withShared,
  ],
  threadSearch: (agentIds: readonly string[], query: object) => ["threads", "search", agentIds, query],
  /** Threads of all agents. */
  foundThreads: (search: string) => ["threads", "found", search],
  /** All that is asked about one thread. */
  thread: (thread: ThreadName) => ["thread", threadCall(thread)],
  listing: (thread: ThreadName) => [...keys.thread(thread), "listing"],
  feedback: (thread: ThreadName) => [...keys.thread(thread), "feedback"],
  feedbackList: (filter: object) => ["feedback", filter],
  runs: (thread: ThreadName) => [...keys.thread(thread), "runs"],
  state: (thread: ThreadName, runId: string) => [...keys.thread(thread), "state", runId],
  history: (thread: ThreadName, limit: number) => [...keys.thread(thread), "history", limit],
  /** All crons, and all that is asked about one. */
  crons: ["crons"],
  cron: (id: string) => ["crons", id],
  ticks: (id: string) => ["crons", id, "ticks"],
  cronPreview: (schedule: string, timeZone: string) => ["cron preview", schedule, timeZone],
  statement: (month: string) => ["usage", "statement", month],
  daySeries: (filters: readonly object[]) => ["usage", "days", filters],
  spendRuns: (filter: object) => ["usage", "runs", filter],
  budgets: ["usage", "budgets"],
} as const;
