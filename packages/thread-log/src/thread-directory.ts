import { ThroughlineError } from "@throughline/ai-core";
import type { Finish } from "./registry/run-registry.js";
import { subjectKey, type ThreadRef, type ThreadScope } from "./thread-ref.js";

export const THREAD_STATUSES = ["idle", "running", "waiting", "error"] as const;
/** `waiting`: for a person's answer. `error`: its last run failed or was lost. */
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** A thread in a list of threads, with fields that no log or checkpoint has. */
export interface ThreadListing {
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  /** The title that a person gave it, else the beginning of its first message. */
  readonly title: string | undefined;
  readonly derivedTitle: string | undefined;
  readonly isTitledByPerson: boolean;
  readonly isArchived: boolean;
  /** Where it began, if it is a fork of another thread. */
  readonly forkedFrom: ForkOrigin | undefined;
  /** The model its runs use when they name none. */
  readonly model: string | undefined;
  readonly status: ThreadStatus;
  readonly lastRunId: string;
  /** Token of the lease that wrote the status. */
  readonly token: bigint;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly lastActivityAt: number;
}

export interface ForkOrigin {
  readonly threadName: string;
  /** The person whose thread it was; `undefined` for one of the account. */
  readonly subject: string | undefined;
  readonly checkpointId: string;
  /** The last message that both threads have. */
  readonly messageId: string | undefined;
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
  /** `null`: runs that name no model use the default again. */
  readonly model?: string | null | undefined;
  readonly forkedFrom?: ForkOrigin | undefined;
}

/**
 * A row per thread. The registry writes it in the statements that start, claim and finish runs, and never in between: the
 * log's own row moves with every append, so a list in order of that would touch an index with each.
 */
export interface ThreadDirectory {
  list(scope: ThreadScope, query: ThreadQuery): Promise<ThreadListPage>;
  find(thread: ThreadRef): Promise<ThreadListing | undefined>;
  /** `undefined` when there is no such thread. */
  change(thread: ThreadRef, change: ThreadChange): Promise<ThreadListing | undefined>;
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject?: string): Promise<void>;
}

export function statusAfter({ status, interrupts = [] }: Finish): ThreadStatus {
  // Also after a run that failed or was stopped: an interrupt without a response is still open.
  if (interrupts.length > 0) return "waiting";
  switch (status) {
    case "success":
    case "cancelled":
      return "idle";
    case "interrupted":
      return "waiting";
    case "error":
    case "lost":
      return "error";
  }
}

export interface ListingPosition {
  readonly lastActivityAt: number;
  readonly subject: string;
  readonly threadId: string;
}

/** Where a page ends. Activity only moves threads up, so what was not shown yet is never skipped below it. */
export function formatListingToken({ lastActivityAt, subject, threadId }: ListingPosition): string {
  return Buffer.from(JSON.stringify([lastActivityAt, subject, threadId])).toString("base64url");
}

export function parseListingToken(token: string): ListingPosition {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(parsed)) {
      const [lastActivityAt, subject, threadId]: unknown[] = parsed;
      if (
        typeof lastActivityAt === "number" &&
        Number.isSafeInteger(lastActivityAt) &&
        Math.abs(lastActivityAt) < 8.64e15 &&
        typeof subject === "string" &&
        typeof threadId === "string" &&
        !`${subject}${threadId}`.includes("\u0000")
      ) {
        return { lastActivityAt, subject, threadId };
      }
    }
  } catch {}
  throw new ThroughlineError("invalid_input", "after: is not a page we gave", {
    details: { field: "after" },
  });
}
/** The text that a search reads. Case is folded here and not by the database, whose idea of upper case depends on its locale. */
export function searchText(title: string | undefined, threadName: string): string {
  return foldCase(`${title ?? ""}\n${threadName}`);
}

export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** A title is what a person typed, and PostgreSQL's text can't hold U+0000. */
export function storableTitle(title: string | undefined): string | undefined {
  return title?.replaceAll("\u0000", "");
}

export interface PageCursor {
  readonly subject: string;
  readonly threadId: string;
}

/** Where a page of threads ends; they are listed in order of subject and id. */
export function formatPageToken(thread: ThreadRef): string {
  return Buffer.from(JSON.stringify([subjectKey(thread), thread.threadId])).toString("base64url");
}

export function parsePageToken(token: string): PageCursor {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(parsed)) {
      const [subject, threadId]: unknown[] = parsed;
      if (typeof subject === "string" && typeof threadId === "string") return { subject, threadId };
    }
  } catch {}
  throw new ThroughlineError("invalid_input", "after: is not a page we gave", {
    details: { field: "after" },
  });
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

export function pageLimit(limit: number | undefined): number {
  return Math.min(Math.max(1, Math.trunc(limit ?? DEFAULT_LIMIT)), MAX_LIMIT);
}
