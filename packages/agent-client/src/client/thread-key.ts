import type { ThreadName, Visibility } from "../service/service-port.js";

/** A thread's name as one string, for maps and for what tabs say to each other. */
export function keyOf({ agentId, threadId, visibility }: ThreadName): string {
  return JSON.stringify(visibility === undefined ? [agentId, threadId] : [agentId, threadId, visibility]);
}

export function threadOf(key: string): ThreadName {
  const [agentId, threadId, visibility]: [string, string, Visibility?] = JSON.parse(key);
  return { agentId, threadId, visibility };
}
