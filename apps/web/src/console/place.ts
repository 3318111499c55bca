import { agentIdOf } from "./paths";

/** What an address of the console shows. */
export interface Place {
  readonly agentId: string | undefined;
  readonly threadName: string | undefined;
}

export function placeOf(pathname: string): Place {
  const [, top, agent, thread] = pathname.split("/");
  if (top !== "agents" || !agent) return { agentId: undefined, threadName: undefined };
  try {
    return { agentId: agentIdOf(agent), threadName: thread ? decodeURIComponent(thread) : undefined };
  } catch {
    // Somebody typed a lone `%`: the page itself says that there is nothing.
    return { agentId: undefined, threadName: undefined };
  }
}
