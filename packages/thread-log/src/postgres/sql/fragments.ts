/** The condition of every statement about one thread: its first three parameters. */
export const SAME_THREAD = "account = $1 and subject = $2 and thread_id = $3";
/** R24: the order in which waiting runs are taken. */
export const QUEUE_ORDER = "preempts desc, arrival";
/** To the millisecond, as a page token says it: what it leaves out could not be compared with it. */
export const NOW_OF_LISTING = "date_trunc('milliseconds', clock_timestamp())";

/** What is read of a run, in `RunRow`. */
export const RUN_COLUMNS = [
  "run_id",
  "account",
  "subject",
  "thread_id",
  "alias",
  "graph_id",
  "origin_kind",
  "origin_id",
  "status",
  "start",
  "request",
  "attempt",
  "crashes",
  "owner",
  "fence",
  "lease_until",
  "upstream_run_id",
  "stop_requested",
  "created_at",
  "ended_at",
] as const;
