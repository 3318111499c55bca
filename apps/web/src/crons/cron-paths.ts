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
