import {
  type AgentEvent,
  type AgentService,
  createAgentClient,
  createMemoryStorage,
  statusPolling,
} from "@throughline/agent-client";
import { AgentProvider, ThreadProvider } from "@throughline/agent-react";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { onTestFinished } from "vitest";

/** Shows `page` below a thread whose stream says what the test wants. The service's id of a run is `service:` and its own. */
export async function openThread(page: ReactNode) {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  let tell: ((...events: readonly AgentEvent[]) => void) | undefined;
  const service: AgentService = {
    agents: async () => [],
    follow: (_, signal, sink) =>
      new Promise((resolve) => {
        sink.opened();
        tell = (...events) =>
          sink.events(
            0,
            events.map((event) => ({ id: undefined, data: JSON.stringify(event) })),
          );
        signal.addEventListener("abort", () => resolve({ kind: "ended" }));
      }),
    send: async (_, { id }) => ({ kind: "accepted", serviceRunId: `service:${id}` }),
    stop: async () => true,
    poll: async () => undefined,
    renew: async () => true,
  };
  const schedule = (callback: () => void) => {
    queueMicrotask(callback);
    return () => {};
  };
  const client = createAgentClient({
    url: "/api",
    service,
    schedule,
    storage: createMemoryStorage(),
    polling: statusPolling,
  });
  const place = document.createElement("div");
  const root = createRoot(place);
  onTestFinished(() => {
    act(() => root.unmount());
    client.close();
  });
  await act(async () =>
    root.render(
      <AgentProvider client={client}>
        <ThreadProvider agentId="poet" threadId="t">
          {page}
        </ThreadProvider>
      </AgentProvider>,
    ),
  );
  return {
    place,
    thread: client.thread("poet", "t"),
    tell: (...events: readonly AgentEvent[]) => act(async () => tell?.(...events)),
  };
}

export function runStarted(runId: string): AgentEvent {
  const metadata = { throughline: { runId: `service:${runId}`, attempt: 0 } };
  return { type: "RUN_STARTED", threadId: "t", runId, metadata };
}

export function runFinished(runId: string): AgentEvent {
  return { type: "RUN_FINISHED", threadId: "t", runId, outcome: { type: "success" } };
}
