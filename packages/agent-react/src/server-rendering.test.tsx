import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import {
  AgentProvider,
  ThreadProvider,
  useAgents,
  useAttachments,
  useCalls,
  useCommands,
  useConnection,
  useCustomEvents,
  useEventLog,
  useFrontendTool,
  useInterrupt,
  useInterrupts,
  useMessage,
  useMessageIds,
  useMessages,
  usePending,
  usePredictState,
  useQueue,
  useRenderTool,
  useRun,
  useThreadState,
  useThreads,
  useUsage,
} from "./index.js";
import { createFakeAccount, createFakePage, Probe, told } from "./testing/fake-page.js";

it("renders without a page: what nobody has opened yet, whatever the client holds", () => {
  expect(typeof window).toBe("undefined");
  const page = createFakePage();
  page.client.thread("poet", "t").open();
  page.streams[0]?.tell(...told([{ id: "m", content: "somebody's words" }]));
  const seen: Record<string, unknown> = {};
  const html = renderToString(
    <AgentProvider client={page.client} account={createFakeAccount()}>
      <ThreadProvider agentId="poet" threadId="t">
        <p>ready</p>
        <Probe
          use={() => {
            useCommands();
            useRenderTool({ name: "t", render: () => "drawn" });
            useFrontendTool({ name: "t", description: "", parameters: {}, run: () => 1 });
            Object.assign(seen, {
              agents: useAgents().agents,
              messages: useMessages(),
              ids: useMessageIds(),
              message: useMessage("m"),
              run: useRun(),
              calls: useCalls(),
              interrupts: useInterrupts(),
              connection: useConnection().kind,
              usage: useUsage(),
              state: useThreadState((state) => state),
              pending: usePending(),
              log: useEventLog(),
              events: useCustomEvents(),
              predicted: usePredictState((state) => state),
              question: useInterrupt(),
              queue: useQueue().queue,
              threads: useThreads("poet").threads,
              files: useAttachments().files,
            });
          }}
        />
      </ThreadProvider>
    </AgentProvider>,
  );
  expect(html).toBe("<p>ready</p>");
  expect(seen).toEqual({
    agents: undefined,
    messages: [],
    ids: [],
    message: undefined,
    run: null,
    calls: [],
    interrupts: [],
    connection: "closed",
    usage: null,
    state: {},
    pending: { sync: false, running: false, preempting: false, queue: [] },
    log: [],
    events: [],
    predicted: {},
    question: undefined,
    queue: [],
    threads: undefined,
    files: [],
  });
});

it("opens no stream and asks nothing", () => {
  const page = createFakePage();
  renderToString(
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <Probe use={useAgents} />
      </ThreadProvider>
    </AgentProvider>,
  );
  expect(page.streams).toEqual([]);
  expect(page.questions()).toBe(0);
});
