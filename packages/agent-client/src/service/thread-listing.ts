import type { ThreadName, Visibility } from "./service-port.js";

/** Which threads of an agent are listed. */
export interface ThreadQuery {
  /** Whose: the caller's own, the account's, or both. Absent: the caller's own, or the account's where the caller is no person. */
  readonly visibility?: Visibility | "all";
  /** Part of a title or a name, in any case. */
  readonly search?: string;
  readonly archived?: boolean;
  readonly status?: ListedThread["status"];
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

/** A thread as lists show it. It names the thread: pass it to a provider as it is. */
export interface ListedThread extends ThreadName {
  readonly title: string | null;
  readonly archived: boolean;
  /** `waiting`: for a person's answer. */
  readonly status: "idle" | "running" | "waiting" | "error";
  /** ISO 8601. */
  readonly lastActivityAt: string;
}

export interface ThreadPage {
  readonly threads: readonly ListedThread[];
  /** Asks for the next page as `after`; `null`: this is the last one. */
  readonly next: string | null;
}

/** A file that lies in a thread, as a message names it. */
export interface UploadedFile {
  readonly id: string;
  readonly mimeType: string;
}

export function threadsCall(agentId: string, query: ThreadQuery): string {
  const told = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(told.map(([name, value]) => [name, String(value)])).toString();
  return `/agents/${encodeURIComponent(agentId)}/threads${search === "" ? "" : `?${search}`}`;
}

interface WirePage {
  readonly threads: readonly (Omit<ListedThread, "threadId"> & { readonly threadName: string })[];
  readonly next: string | null;
}

/** Of the caller's own threads none says whose it is, so that each is the same thread as one that is named without. */
export function readThreadPage(answer: unknown, { visibility }: ThreadQuery): ThreadPage {
  // A parsed boundary: the service's own answer.
  const { threads, next } = answer as WirePage;
  return {
    threads: threads.map(
      ({ threadName, visibility: whose, agentId, title, archived, status, lastActivityAt }) => ({
        agentId,
        threadId: threadName,
        ...(visibility !== undefined && whose === "account" && { visibility: whose }),
        title,
        archived,
        status,
        lastActivityAt,
      }),
    ),
    next,
  };
}

export function readAttachment(answer: unknown): UploadedFile {
  // A parsed boundary: the service's own answer.
  const { id, mimeType } = answer as UploadedFile;
  return { id, mimeType };
}
