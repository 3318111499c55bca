import { agentIdOf } from "./paths";

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
