// @vitest-environment happy-dom
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import {
  AgentProvider,
  ThreadProvider,
  useAgentClient,
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
  useThread,
  useThreadHandle,
  useThreadState,
  useThreads,
  useUsage,
} from "./index.js";
import { createFakePage, mount, Probe, started, told } from "./testing/fake-page.js";

const POET = { agentId: "poet", name: "Poet", description: "Writes.", commands: [] };

function belowClient(use: () => unknown): ReactNode {
  return (
    <AgentProvider client={createFakePage().client}>
      <Probe use={use} />
    </AgentProvider>
  );
}

describe("outside its provider", () => {
  it.each<[name: string, use: () => unknown]>([
    ["useAgentClient()", useAgentClient],
    ["useAgents()", useAgents],
    [
      "useFrontendTool()",
      () => useFrontendTool({ name: "t", description: "", parameters: {}, run: () => 1 }),
    ],
    ["useRenderTool()", () => useRenderTool({ name: "t", render: () => null })],
  ])("%s says that it needs an AgentProvider", (name, use) => {
    expect(() => renderToString(<Probe use={use} />)).toThrow(
      `${name} needs an <AgentProvider client={…}> above it.`,
    );
  });

  it.each<[name: string, use: () => unknown]>([
    ["useThreads()", () => useThreads("poet")],
    ["useAttachments()", useAttachments],
  ])("%s says that it needs an account", (name, use) => {
    expect(() => renderToString(belowClient(use))).toThrow(
      `${name} needs an <AgentProvider account={createAccountApi({ url: "…" })}> above it.`,
    );
  });

  it("a ThreadProvider says that it needs an AgentProvider", () => {
    expect(() => renderToString(<ThreadProvider agentId="poet" threadId="t" />)).toThrow(
      "<ThreadProvider> needs an <AgentProvider client={…}> above it.",
    );
  });

  it.each<[name: string, use: () => unknown]>([
    ["useThreadHandle()", useThreadHandle],
    ["useThread()", () => useThread((snapshot) => snapshot)],
    ["useMessageIds()", useMessageIds],
    ["useMessage()", () => useMessage("m")],
    ["useMessages()", useMessages],
    ["useRun()", useRun],
    ["useCalls()", useCalls],
    ["useInterrupts()", useInterrupts],
    ["useConnection()", useConnection],
    ["useUsage()", useUsage],
    ["useThreadState()", () => useThreadState((state) => state)],
    ["useEventLog()", useEventLog],
    ["useCommands()", useCommands],
    ["usePending()", usePending],
    ["useInterrupt()", useInterrupt],
    ["useQueue()", useQueue],
    ["useCustomEvents()", useCustomEvents],
    ["usePredictState()", () => usePredictState((state) => state)],
  ])("%s says that it needs a ThreadProvider", (name, use) => {
    expect(() => renderToString(belowClient(use))).toThrow(
      `${name} needs a <ThreadProvider agentId="…" threadId="…"> above it.`,
    );
  });
});

/** A component on the thread `t`, and all values its hook gave. */
async function watch<T>(use: () => T, { strict = false } = {}) {
  const page = createFakePage();
  const seen: T[] = [];
  const tree: ReactNode = (
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <Probe use={() => seen.push(use())} />
      </ThreadProvider>
    </AgentProvider>
  );
  const mounted = await mount(strict ? <StrictMode>{tree}</StrictMode> : tree);
  return { ...page, ...mounted, seen, tree };
}

describe("useAgents", () => {
  it("asks when somebody looks, and shows what the service says when it is asked again", async () => {
    const page = createFakePage();
    page.offer([POET]);
    const seen: unknown[] = [];
    await mount(
      <AgentProvider client={page.client}>
        <Probe use={() => seen.push(useAgents().agents?.map(({ name }) => name))} />
      </AgentProvider>,
    );
    await page.draw();
    page.offer([POET, { ...POET, agentId: "sentinel", name: "Sentinel" }]);
    await page.client.agents.refresh();
    await page.draw();
    expect(seen).toEqual([undefined, ["Poet"], ["Poet", "Sentinel"]]);
  });

  it("asks once in StrictMode", async () => {
    const page = createFakePage();
    await mount(
      <StrictMode>
        <AgentProvider client={page.client}>
          <Probe use={useAgents} />
        </AgentProvider>
      </StrictMode>,
    );
    await page.draw();
    expect(page.questions()).toBe(1);
  });
});

describe("useCommands", () => {
  it("gives the same object for as long as the thread is the same", async () => {
    const { seen, render, draw, streams, tree } = await watch(useCommands);
    streams[0]?.tell(...told([{ id: "m", content: "hello" }]));
    await draw();
    await render(tree);
    expect(new Set(seen).size).toBe(1);
  });

  it("sends what the person wrote, and usePending knows of it until the run is over", async () => {
    const { seen, client, draw, sent, streams } = await watch(usePending);
    await draw();
    const outcome = client.thread("poet", "t").send("hello");
    await draw();
    expect(seen.at(-1)).toMatchObject({ running: true });
    const id = sent[0]?.id ?? "";
    expect(sent[0]?.input.messages).toMatchObject([{ role: "user", content: "hello" }]);
    streams[0]?.tell(started(id), { type: "RUN_ERROR", message: "No.", code: "run_failed" });
    expect(await outcome).toMatchObject({ kind: "done", status: "error" });
    await draw();
    expect(seen.at(-1)).toMatchObject({ running: false });
    expect(seen).toHaveLength(3);
  });

  it("works without its object around it", async () => {
    const { seen, sent } = await watch(useCommands);
    const { send } = seen[0] ?? {};
    void send?.("taken out");
    await vi.waitFor(() => expect(sent).toHaveLength(1));
  });
});

describe("useConnection", () => {
  it("says how the line stands", async () => {
    const { seen, draw } = await watch(useConnection);
    await draw();
    expect(seen).toEqual([{ kind: "closed" }, { kind: "live" }]);
  });
});

describe("useEventLog", () => {
  it("shows frames as they came, a screenful at a time", async () => {
    const { seen, draw, streams } = await watch(useEventLog);
    streams[0]?.tell(started("r"));
    streams[0]?.tell({ type: "STEP_STARTED", stepName: "write" });
    await draw();
    const types = seen.map((frames) => frames.map(({ event }) => event.type));
    expect(types).toEqual([[], ["RUN_STARTED", "STEP_STARTED"]]);
  });
});

describe("useInterrupts", () => {
  it("shows what the agent asks, and nothing once that is answered", async () => {
    const { seen, draw, streams } = await watch(useInterrupts);
    streams[0]?.tell(started("r"), {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      outcome: { type: "interrupt", interrupts: [{ id: "q", reason: "book", message: "Book it?" }] },
    });
    await draw();
    streams[0]?.tell(started("r2"));
    await draw();
    expect(seen.map((asked) => asked.map(({ id }) => id))).toEqual([[], ["q"], []]);
  });
});
