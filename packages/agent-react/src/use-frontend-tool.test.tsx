// @vitest-environment happy-dom
import type { AgentEvent, FrontendTool } from "@throughline/agent-client";
import { StrictMode } from "react";
import { expect, it, vi } from "vitest";
import { AgentProvider, ThreadProvider, useFrontendTool } from "./index.js";
import { createFakePage, finished, mount, Probe, started } from "./testing/fake-page.js";

const PICK = { name: "pick", description: "Picks.", parameters: { type: "object" } };

/** A run that ends with a call of the tool unanswered. */
function calling(messageId: string): AgentEvent[] {
  const toolCallId = `${messageId}:call`;
  return [
    started(messageId),
    { type: "TEXT_MESSAGE_START", messageId },
    { type: "TEXT_MESSAGE_END", messageId },
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "pick", parentMessageId: messageId },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"of":"colours"}' },
    { type: "TOOL_CALL_END", toolCallId },
    finished(messageId),
  ];
}

function setUp() {
  const page = createFakePage();
  const tree = (
    run: FrontendTool["run"] | undefined,
    { description = PICK.description, deps = [""] } = {},
  ) => (
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        {run && <Probe use={() => useFrontendTool({ ...PICK, description, run }, deps)} />}
      </ThreadProvider>
    </AgentProvider>
  );
  const answers = () =>
    page.sent.flatMap(({ input }) => input.messages?.map(({ role, content }) => [role, content]) ?? []);
  return { ...page, tree, answers };
}

it("offers the tool with the thread's first request, and answers a call with what it returned", async () => {
  const { tree, streams, answers } = setUp();
  const run = vi.fn<FrontendTool["run"]>(() => "blue");
  await mount(tree(run));
  streams[0]?.tell(...calling("m"));
  await vi.waitFor(() => expect(answers()).toEqual([["tool", "blue"]]));
  expect(run).toHaveBeenCalledTimes(1);
  expect(run.mock.calls[0]?.[0]).toEqual({ of: "colours" });
});

it("runs the function of the newest render, without declaring the tool again", async () => {
  const { tree, streams, answers, client } = setUp();
  const declared = vi.spyOn(client, "declareTool");
  const { render } = await mount(tree(() => "old"));
  await render(tree(() => "new"));
  streams[0]?.tell(...calling("m"));
  await vi.waitFor(() => expect(answers()).toEqual([["tool", "new"]]));
  expect(declared).toHaveBeenCalledTimes(1);
});

it("declares the tool anew when what is said of it changes", async () => {
  const { tree, client } = setUp();
  const declared = vi.spyOn(client, "declareTool");
  const { render } = await mount(tree(() => 1));
  await render(tree(() => 1, { description: "Picks well." }));
  expect(declared.mock.calls.map(([{ description }]) => description)).toEqual(["Picks.", "Picks well."]);
});

it("takes the tool back when unmounted, and tells a call under way", async () => {
  const { tree, streams, sent } = setUp();
  const run = vi.fn<FrontendTool["run"]>(() => new Promise(() => {}));
  const { render } = await mount(tree(run));
  streams[0]?.tell(...calling("m"));
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
  await render(tree(undefined));
  await vi.waitFor(() => expect(run.mock.calls[0]?.[1].signal.aborted).toBe(true));
  streams[0]?.tell(...calling("m2"));
  expect(run).toHaveBeenCalledTimes(1);
  expect(sent).toEqual([]);
});

it("runs a call that waited for it once, in StrictMode too", async () => {
  const { tree, streams, answers } = setUp();
  const run = vi.fn<FrontendTool["run"]>(() => "blue");
  const { render } = await mount(<StrictMode>{tree(undefined)}</StrictMode>);
  streams[0]?.tell(...calling("m"));
  await render(<StrictMode>{tree(run)}</StrictMode>);
  await vi.waitFor(() => expect(answers()).toEqual([["tool", "blue"]]));
  expect(run).toHaveBeenCalledTimes(1);
});

it("begins a call again when one of its dependencies changes", async () => {
  const { tree, streams, answers } = setUp();
  const first = vi.fn<FrontendTool["run"]>(() => new Promise(() => {}));
  const { render } = await mount(tree(first, { deps: ["red"] }));
  streams[0]?.tell(...calling("m"));
  await vi.waitFor(() => expect(first).toHaveBeenCalledTimes(1));
  await render(tree(() => "blue", { deps: ["blue"] }));
  expect(first.mock.calls[0]?.[1].signal.aborted).toBe(true);
  await vi.waitFor(() => expect(answers()).toEqual([["tool", "blue"]]));
});
