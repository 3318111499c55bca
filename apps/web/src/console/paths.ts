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
