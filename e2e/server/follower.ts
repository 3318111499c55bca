import { type SseEvent, sseEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import type { AgentRoutes } from "./rig/agent-routes.js";
import { appliedView } from "./stock/applied-view.js";
import { type AnyMessage, messageLines } from "./stock/message-lines.js";

/** A client that does nothing but watch a thread, over as many connections as it takes. */
export interface Follower {
  /** Over all its connections. */
  readonly events: readonly SseEvent[];
  readonly connections: readonly (readonly SseEvent[])[];
  /** Resolves with the first event, past or to come, that matches. */
  seen(matches: (event: SseEvent) => boolean): Promise<SseEvent>;
  /** Comes back, here or elsewhere, with the last id it got. */
  reconnect(routes: AgentRoutes): Promise<void>;
  leave(): void;
}

export async function followThread(routes: AgentRoutes, agent: string, threadId: string): Promise<Follower> {
  const events: SseEvent[] = [];
  const connections: SseEvent[][] = [];
  const waiting = new Set<{ matches: (event: SseEvent) => boolean; resolve: (event: SseEvent) => void }>();
  let leaving = new AbortController();

  function take(event: SseEvent): void {
    events.push(event);
    for (const waiter of waiting) {
      if (!waiter.matches(event)) continue;
      waiting.delete(waiter);
      waiter.resolve(event);
    }
  }

  async function connect(to: AgentRoutes): Promise<void> {
    const lastSeenEventId = events.findLast(({ id }) => id !== undefined)?.id;
    const response = await to.connect(agent, {
      threadId,
      forwardedProps: { throughline: { follow: true } },
      ...(lastSeenEventId !== undefined && { lastSeenEventId }),
    });
    const { signal } = leaving;
    const connection: SseEvent[] = [];
    connections.push(connection);
    void (async () => {
      for await (const event of sseEvents(response)) {
        if (signal.aborted) return;
        connection.push(event);
        take(event);
      }
    })().catch(() => {
      // Its server was killed: it comes back when it is told to.
    });
  }

  await connect(routes);
  return {
    events,
    connections,
    seen(matches) {
      const past = events.find(matches);
      return past ? Promise.resolve(past) : new Promise((resolve) => waiting.add({ matches, resolve }));
    },
    async reconnect(to) {
      leaving.abort();
      leaving = new AbortController();
      await connect(to);
    },
    leave: () => leaving.abort(),
  };
}

/** The conversation as a stock client shows it after these connections, to be compared with a checkpoint's. */
export async function shownMessages(
  ...connections: readonly (readonly SseEvent[])[]
): Promise<readonly string[]> {
  const view = appliedView("0.0");
  for (const events of connections) await view.connection(events.map(({ data }) => data));
  // What the client's own schema has let through.
  return messageLines(view.messages as readonly AnyMessage[]);
}
