const PREFIX = "langgraph:";

/** How an agent is named in an address: `langgraph:poet` is `poet`. */
function agentSlug(agentId: string): string {
  return encodeURIComponent(agentId.startsWith(PREFIX) ? agentId.slice(PREFIX.length) : agentId);
}

/** Next hands a segment of an address over as it stands there. */
export function agentIdOf(slug: string): string {
  const name = decodeURIComponent(slug);
  return name.includes(":") ? name : `${PREFIX}${name}`;
}

export function threadPath(agentId: string, threadId: string): string {
  return `/agents/${agentSlug(agentId)}/${encodeURIComponent(threadId)}`;
}

export function agentPath(agentId: string): string {
  return `/agents/${agentSlug(agentId)}`;
}
