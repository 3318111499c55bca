// @vitest-environment happy-dom
import {
  type AgentEvent,
  createAgentClient,
  createMemoryStorage,
  type ServicePort,
} from "@throughline/agent-client";
import { AgentProvider, ThreadProvider } from "@throughline/agent-react";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, onTestFinished } from "vitest";
import { useOwnRuns } from "./use-own-runs";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

type OwnRuns = ReturnType<typeof useOwnRuns>;

function Page({ onRender }: { readonly onRender: (own: OwnRuns) => void }): ReactNode {
  onRender(useOwnRuns());
  return null;
}

/** A page of a thread whose stream says what the test wants. */
async function openPage() {
  let tell: ((...events: readonly AgentEvent[]) => void) | undefined;
  const service: ServicePort = {
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
  const client = createAgentClient({ url: "/api", service, schedule, storage: createMemoryStorage() });
  const thread = client.thread("poet", "t");
  let own: OwnRuns | undefined;
  const root = createRoot(document.createElement("div"));
  onTestFinished(() => {
    act(() => root.unmount());
    client.close();
  });
  await act(async () =>
    root.render(
      <AgentProvider client={client}>
        <ThreadProvider agentId="poet" threadId="t">
          <Page
            onRender={(runs) => {
              own = runs;
            }}
          />
        </ThreadProvider>
      </AgentProvider>,
    ),
  );
  return {
    thread,
    isOwn: (runId: string) => own?.has(`service:${runId}`),
    add: (command: ReturnType<typeof thread.send>) => act(async () => own?.add(command)),
    tell: (...events: readonly AgentEvent[]) => act(async () => tell?.(...events)),
  };
}

function started(runId: string): AgentEvent {
  const metadata = { throughline: { runId: `service:${runId}`, attempt: 0 } };
  return { type: "RUN_STARTED", threadId: "t", runId, metadata };
}

function finished(runId: string): AgentEvent {
  return { type: "RUN_FINISHED", threadId: "t", runId, outcome: { type: "success" } };
}

it("knows a run of this page from one of another tab that begins while its own waits", async () => {
  const { thread, add, tell, isOwn } = await openPage();
  await tell(started("cron"));
  const command = thread.send("hello", { kind: "queue" });
  await add(command);
  await tell(finished("cron"), started("another tab's"));
  expect(isOwn("another tab's")).toBe(false);
  await tell(finished("another tab's"), started(command.runId));
  expect(isOwn(command.runId)).toBe(true);
});

it("knows a run that was over before anything of it was drawn", async () => {
  const { thread, add, tell, isOwn } = await openPage();
  const command = thread.send("hello");
  await add(command);
  await tell(started(command.runId), finished(command.runId), started("next"), finished("next"));
  expect(isOwn(command.runId)).toBe(true);
  expect(isOwn("next")).toBe(false);
});
