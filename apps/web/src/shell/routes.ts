const PREFIX = "langgraph:";

export const USAGE_PATH = "/usage";
export const INBOX_PATH = "/inbox";
export const FEEDBACK_PATH = "/feedback";

/** Name of an agent in a URL: `langgraph:poet` is `poet`. */
function agentSlug(agentId: string): string {
  return encodeURIComponent(agentId.startsWith(PREFIX) ? agentId.slice(PREFIX.length) : agentId);
}

/** Parses an agent's URL segment, which Next passes without decoding. */
export function agentIdOf(slug: string): string {
  const name = decodeURIComponent(slug);
  return name.includes(":") ? name : `${PREFIX}${name}`;
}

/** Path of a thread. `shared` precedes the name of a thread that the account shares. */
export function threadPath(agentId: string, threadId: string, visibility?: "account"): string {
  const below = visibility === "account" ? "shared/" : "";
  return `/agents/${agentSlug(agentId)}/${below}${encodeURIComponent(threadId)}`;
}

export function agentPath(agentId: string): string {
  return `/agents/${agentSlug(agentId)}`;
}

/** Path of the feedback on an agent's answers. */
export function feedbackPath(agentId: string): string {
  return `${FEEDBACK_PATH}?agent=${agentSlug(agentId)}`;
}

/** Visibility of a thread in a URL: a caller's own threads need none. */
export function sharedOf({ visibility }: { readonly visibility?: "private" | "account" | undefined }) {
  return visibility === "account" ? visibility : undefined;
}

/** The agent and thread of a console URL. */
export interface Route {
  readonly agentId: string | undefined;
  readonly threadName: string | undefined;
  /** `account`: the thread is one that the account shares. */
  readonly visibility?: "account" | undefined;
}

export function parseRoute(pathname: string): Route {
  const [, top, agent, third, fourth] = pathname.split("/");
  if (top !== "agents" || !agent) return { agentId: undefined, threadName: undefined };
  try {
    const isShared = third === "shared" && Boolean(fourth);
    const thread = isShared ? fourth : third;
    return {
      agentId: agentIdOf(agent),
      threadName: thread ? decodeURIComponent(thread) : undefined,
      ...(isShared && { visibility: "account" }),
    };
  } catch {
    // A lone `%` was typed: the page itself reports that nothing is found.
    return { agentId: undefined, threadName: undefined };
  }
}
export const CRONS_PATH = "/crons";

export function cronPath(id: string): string {
  return `${CRONS_PATH}/${encodeURIComponent(id)}`;
}

/** Path of the cron form, prefilled with an agent and a thread. */
export function newCronPath(agentId?: string, threadId?: string): string {
  const query = new URLSearchParams();
  if (agentId !== undefined) query.set("agent", agentId);
  if (threadId !== undefined) query.set("thread", threadId);
  return query.size === 0 ? `${CRONS_PATH}/new` : `${CRONS_PATH}/new?${query}`;
}
