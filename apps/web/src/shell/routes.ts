const PREFIX = "langgraph:";

export const USAGE_PATH = "/usage";
export const INBOX_PATH = "/inbox";
export const FEEDBACK_PATH = "/feedback";

/** How an agent is named in an address: `langgraph:poet` is `poet`. */
function agentSlug(agentId: string): string {
  return encodeURIComponent(agentId.startsWith(PREFIX) ? agentId.slice(PREFIX.length) : agentId);
}

/** Next hands a segment of an address over as it stands there. */
export function agentIdOf(slug: string): string {
  const name = decodeURIComponent(slug);
  return name.includes(":") ? name : `${PREFIX}${name}`;
}

/** `shared` comes before the name of a thread that the account shares. */
export function threadPath(agentId: string, threadId: string, visibility?: "account"): string {
  const below = visibility === "account" ? "shared/" : "";
  return `/agents/${agentSlug(agentId)}/${below}${encodeURIComponent(threadId)}`;
}

export function agentPath(agentId: string): string {
  return `/agents/${agentSlug(agentId)}`;
}

/** What people think of an agent's answers. */
export function feedbackPath(agentId: string): string {
  return `${FEEDBACK_PATH}?agent=${agentSlug(agentId)}`;
}

/** What an address says of a thread's visibility: a caller's own threads need no word. */
export function sharedOf({ visibility }: { readonly visibility?: "private" | "account" | undefined }) {
  return visibility === "account" ? visibility : undefined;
}

/** What an address of the console shows. */
export interface Place {
  readonly agentId: string | undefined;
  readonly threadName: string | undefined;
  /** `account`: the thread is one that the account shares. */
  readonly visibility?: "account" | undefined;
}

export function placeOf(pathname: string): Place {
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
    // A lone `%` was typed: the page itself says that there is nothing.
    return { agentId: undefined, threadName: undefined };
  }
}
export const CRONS_PATH = "/crons";

export function cronPath(id: string): string {
  return `${CRONS_PATH}/${encodeURIComponent(id)}`;
}

/** A form that begins with this agent, in this thread. */
export function newCronPath(agentId?: string, threadId?: string): string {
  const query = new URLSearchParams();
  if (agentId !== undefined) query.set("agent", agentId);
  if (threadId !== undefined) query.set("thread", threadId);
  return query.size === 0 ? `${CRONS_PATH}/new` : `${CRONS_PATH}/new?${query}`;
}
