import type { RequestFailure } from "../connection/connection-state.js";
import type { ThreadName, Visibility } from "../transport/agent-service.js";
import {
  createRequest,
  DEFAULT_TIMEOUT_MS,
  type HttpOptions,
  type RequestParts,
  requestJson,
} from "../transport/http.js";

/** The reach of an action, each level including the ones before: the caller's own, those the account shares, other people's. */
export type Reach = "own" | "account" | "everyone";

/** The caller and their allowed actions, by the service's policy. */
export interface CallerInfo {
  readonly account: string;
  /** `null`: no person, but the account itself. */
  readonly subject: string | null;
  readonly role: string;
  readonly actions: readonly {
    readonly action: string;
    /** Completes "The role … may not …". */
    readonly does: string;
    /** `null`: not at all. */
    readonly reach: Reach | null;
  }[];
}

export interface AccountApiOptions extends HttpOptions {
  /** The base URL of the service's own routes: `/me`, `/agents`. */
  readonly url: string;
}

/** The API of an account and its people. No method rejects: a failure is a value. */
export interface AccountApi {
  caller(): Promise<CallerInfo | RequestFailure>;
  /** Whether the thread is private or shared, as the service lists it. */
  visibility(thread: ThreadName): Promise<Visibility | RequestFailure>;
  /** Shares a private thread with the account, or makes a shared one private. From then on it has another `ThreadName`. */
  changeVisibility(thread: ThreadName, visibility: Visibility): Promise<Visibility | RequestFailure>;
  /** Threads of an agent, newest activity first. */
  threads(agentId: string, query?: ThreadQuery): Promise<ThreadPage | RequestFailure>;
  /** Uploads a file to the thread. A message references it afterwards. */
  upload(thread: ThreadName, file: File, signal?: AbortSignal): Promise<UploadedFile | RequestFailure>;
}

export function createAccountApi(options: AccountApiOptions): AccountApi {
  const request = createRequest(options.url, options);

  function fetchJson<T>(path: string, parts: RequestParts, read: (body: unknown) => T) {
    return requestJson(request, path, parts, read);
  }

  function inTime(): { readonly signal: AbortSignal } {
    return { signal: AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS) };
  }

  return {
    // A parsed boundary: the service's own response.
    caller: () => fetchJson("/me", inTime(), (body) => body as CallerInfo),
    visibility: (thread) => fetchJson(threadPath(thread), inTime(), readVisibility),
    changeVisibility: (thread, visibility) =>
      fetchJson(
        threadPath(thread, "/visibility"),
        { ...inTime(), method: "PUT", body: JSON.stringify({ visibility }) },
        readVisibility,
      ),
    threads: (agentId, query = {}) =>
      fetchJson(threadsCall(agentId, query), inTime(), (body) => readThreadPage(body, query)),
    // No timeout: a large file may take any time.
    upload: (thread, file, signal) =>
      fetchJson(
        threadPath(thread, "/attachments", { filename: file.name }),
        {
          body: file,
          headers: { "content-type": file.type || "application/octet-stream" },
          ...(signal && { signal }),
        },
        readAttachment,
      ),
  };
}

/** The path of a thread's route; `below` is the part after the thread's name. */
export function threadPath(
  { agentId, threadId, visibility }: ThreadName,
  below = "",
  query: Readonly<Record<string, string>> = {},
): string {
  const named = { ...(visibility !== undefined && { visibility }), ...query };
  const search = new URLSearchParams(named).toString();
  const path = `/agents/${encodeURIComponent(agentId)}/threads/${encodeURIComponent(threadId)}${below}`;
  return search === "" ? path : `${path}?${search}`;
}

function readVisibility(body: unknown): Visibility {
  // A parsed boundary: the service's own response.
  return (body as { readonly visibility: Visibility }).visibility;
}

/** Why the caller may not do this in the thread; `undefined` where they may. An action unknown to the service is allowed. */
export function refusalOf(
  { role, subject, actions }: CallerInfo,
  action: string,
  { visibility }: Pick<ThreadName, "visibility"> = {},
): string | undefined {
  const rule = actions.find((one) => one.action === action);
  const isShared = visibility === "account" && subject !== null;
  if (!rule || (rule.reach !== null && !(isShared && rule.reach === "own"))) return undefined;
  const where = rule.reach === null ? "" : " that the account shares";
  return `The role ${role} may not ${rule.does}${where}.`;
}

/** The filter of an agent's thread list. */
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

/** A thread of a list. It is a locator too: pass it to a provider unchanged. */
export interface ListedThread extends ThreadName {
  readonly title: string | null;
  readonly archived: boolean;
  /** `waiting`: for an interrupt response. */
  readonly status: "idle" | "running" | "waiting" | "error";
  /** ISO 8601. */
  readonly lastActivityAt: string;
}

export interface ThreadPage {
  readonly threads: readonly ListedThread[];
  /** Asks for the next page as `after`; `null`: this is the last one. */
  readonly next: string | null;
}

/** A file of a thread, as a message references it. */
export interface UploadedFile {
  readonly id: string;
  readonly mimeType: string;
}

function threadsCall(agentId: string, query: ThreadQuery): string {
  const filters = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(filters.map(([name, value]) => [name, String(value)])).toString();
  return `/agents/${encodeURIComponent(agentId)}/threads${search === "" ? "" : `?${search}`}`;
}

interface WirePage {
  readonly threads: readonly (Omit<ListedThread, "threadId"> & { readonly threadName: string })[];
  readonly next: string | null;
}

/** Reads a page of threads. The caller's own threads get no `visibility`, so that each equals a locator without one. */
function readThreadPage(body: unknown, { visibility }: ThreadQuery): ThreadPage {
  // A parsed boundary: the service's own response.
  const { threads, next } = body as WirePage;
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

function readAttachment(body: unknown): UploadedFile {
  // A parsed boundary: the service's own response.
  const { id, mimeType } = body as UploadedFile;
  return { id, mimeType };
}
