import type { ThreadRef, ThreadScope } from "@throughline/thread-log";

export const THREAD_STATUSES = ["idle", "running", "waiting", "error"] as const;
/** `waiting`: for a person's answer. `error`: its last run failed or was lost. */
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** What a list of threads shows of one, and no log or checkpoint knows. */
export interface ThreadListing {
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  /** What a person called it, else the beginning of what was first said in it. */
  readonly title: string | undefined;
  readonly derivedTitle: string | undefined;
  readonly isTitledByPerson: boolean;
  readonly isArchived: boolean;
  readonly status: ThreadStatus;
  readonly lastRunId: string;
  /** Of the lease that wrote the status. */
  readonly token: bigint;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly lastActivityAt: number;
}

export interface StartedRun {
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  readonly runId: string;
  readonly token: bigint;
  /** Kept where the thread has none yet. */
  readonly derivedTitle: string | undefined;
}

export interface EndedRun {
  readonly thread: ThreadRef;
  readonly token: bigint;
  readonly status: ThreadStatus;
}

export interface ThreadQuery {
  readonly graphId?: string | undefined;
  readonly status?: ThreadStatus | undefined;
  /** Both kinds when absent. */
  readonly isArchived?: boolean | undefined;
  /** Part of the title or the name, in whatever case. */
  readonly search?: string | undefined;
  readonly limit: number;
  /** A token of an earlier page. */
  readonly after?: string | undefined;
}

export interface ThreadListPage {
  /** Newest activity first. */
  readonly threads: readonly ThreadListing[];
  readonly next: string | undefined;
}

export interface ThreadChange {
  /** `null` gives the derived title back. */
  readonly title?: string | null | undefined;
  readonly isArchived?: boolean | undefined;
}

/**
 * A row per thread, written when a run starts and when it ends and never in between: the log's own row moves with every
 * append, so a list in order of that would touch an index with each. A writer with an older token than the row's changes
 * nothing.
 */
export interface ThreadDirectory {
  runStarted(run: StartedRun): Promise<void>;
  /** Changes a row that is there; one that was deleted meanwhile stays deleted. */
  runEnded(run: EndedRun): Promise<void>;
  list(scope: ThreadScope, query: ThreadQuery): Promise<ThreadListPage>;
  find(thread: ThreadRef): Promise<ThreadListing | undefined>;
  /** `undefined` when there is no such thread. */
  change(thread: ThreadRef, change: ThreadChange): Promise<ThreadListing | undefined>;
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject?: string): Promise<void>;
}
