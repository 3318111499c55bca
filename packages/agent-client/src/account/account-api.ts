import type { StreamFailure } from "../connection/connection-state.js";
import type { ThreadName, Visibility } from "../transport/agent-service.js";
import {
  askJson,
  createRequest,
  DEFAULT_TIMEOUT_MS,
  type HttpOptions,
  type RequestParts,
} from "../transport/http.js";

/** How far an action reaches, each level including the ones before it: the caller's own, what the account shares, other people's. */
export type Reach = "own" | "account" | "everyone";

/** Who the caller is and what they may do, as the service's policy says. */
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
  /** Where the service's own routes lie: `/me`, `/agents`. */
  readonly url: string;
}

/** What concerns the people of an account. Nothing here rejects: what goes wrong is the value. */
export interface AccountApi {
  caller(): Promise<CallerInfo | StreamFailure>;
  /** Whether the thread is private or shared, as the service lists it. */
  visibility(thread: ThreadName): Promise<Visibility | StreamFailure>;
  /** Shares a private thread with the account, or makes a shared one private. From then on it is another `ThreadName`. */
  changeVisibility(thread: ThreadName, visibility: Visibility): Promise<Visibility | StreamFailure>;
  /** Threads of an agent, newest activity first. */
  threads(agentId: string, query?: ThreadQuery): Promise<ThreadPage | StreamFailure>;
  /** Puts a file into the thread. A message names it afterwards. */
  upload(thread: ThreadName, file: File, signal?: AbortSignal): Promise<UploadedFile | StreamFailure>;
}

export function createAccountApi(options: AccountApiOptions): AccountApi {
  const request = createRequest(options.url, options);

  function ask<T>(path: string, parts: RequestParts, read: (answer: unknown) => T) {
    return askJson(request, path, parts, read);
  }

  function inTime(): { readonly signal: AbortSignal } {
    return { signal: AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS) };
  }

  return {
    // A parsed boundary: the service's own answer.
    caller: () => ask("/me", inTime(), (answer) => answer as CallerInfo),
    visibility: (thread) => ask(threadCall(thread), inTime(), readVisibility),
    changeVisibility: (thread, visibility) =>
      ask(
        threadCall(thread, "/visibility"),
        { ...inTime(), method: "PUT", body: JSON.stringify({ visibility }) },
        readVisibility,
      ),
    threads: (agentId, query = {}) =>
      ask(threadsCall(agentId, query), inTime(), (answer) => readThreadPage(answer, query)),
    // A large file takes the time it takes.
    upload: (thread, file, signal) =>
      ask(
        threadCall(thread, "/attachments", { filename: file.name }),
        {
          body: file,
          headers: { "content-type": file.type || "application/octet-stream" },
          ...(signal && { signal }),
        },
        readAttachment,
      ),
  };
}

/** The path of a route about a thread; `below` is what comes after the thread's name. */
export function threadCall(
  { agentId, threadId, visibility }: ThreadName,
  below = "",
  query: Readonly<Record<string, string>> = {},
): string {
  const named = { ...(visibility !== undefined && { visibility }), ...query };
  const search = new URLSearchParams(named).toString();
  const path = `/agents/${encodeURIComponent(agentId)}/threads/${encodeURIComponent(threadId)}${below}`;
  return search === "" ? path : `${path}?${search}`;
}

function readVisibility(answer: unknown): Visibility {
  // A parsed boundary: the service's own answer.
  return (answer as { readonly visibility: Visibility }).visibility;
}

/** Why the caller may not do this in the thread; `undefined` where they may. An action that the service does not know is allowed. */
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

function threadsCall(agentId: string, query: ThreadQuery): string {
  const told = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(told.map(([name, value]) => [name, String(value)])).toString();
  return `/agents/${encodeURIComponent(agentId)}/threads${search === "" ? "" : `?${search}`}`;
}

interface WirePage {
  readonly threads: readonly (Omit<ListedThread, "threadId"> & { readonly threadName: string })[];
  readonly next: string | null;
}

/** Of the caller's own threads none says whose it is, so that each is the same thread as one that is named without. */
function readThreadPage(answer: unknown, { visibility }: ThreadQuery): ThreadPage {
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

function readAttachment(answer: unknown): UploadedFile {
  // A parsed boundary: the service's own answer.
  const { id, mimeType } = answer as UploadedFile;
  return { id, mimeType };
}
