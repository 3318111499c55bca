import type { StreamFailure } from "../connection/connection.js";
import {
  askJson,
  createRequest,
  DEFAULT_TIMEOUT_MS,
  type HttpOptions,
  type RequestParts,
} from "./http-request.js";
import type { ThreadName, Visibility } from "./service-port.js";
import {
  readAttachment,
  readThreadPage,
  type ThreadPage,
  type ThreadQuery,
  threadsCall,
  type UploadedFile,
} from "./thread-listing.js";

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
