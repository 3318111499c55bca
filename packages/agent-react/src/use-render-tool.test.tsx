// @vitest-environment happy-dom
import type { AgentEvent } from "@throughline/agent-client";
import { act, type ReactNode, StrictMode } from "react";
import { expect, it, vi } from "vitest";
import { AgentProvider, ThreadProvider, ToolCalls, type ToolRenderer, useRenderTool } from "./index.js";
import { calling, createFakePage, mount, Probe, started } from "./testing/fake-page.js";

async function setUp() {
  const page = createFakePage();
  const tree = (renderers: readonly ToolRenderer[], deps: readonly unknown[]): ReactNode => (
    <StrictMode>
      <AgentProvider client={page.client}>
        <ThreadProvider agentId="poet" threadId="t">
          {renderers.map((renderer) => (
            <Probe key={renderer.name} use={() => useRenderTool(renderer, deps)} />
          ))}
          <ToolCalls messageId="m" />
        </ThreadProvider>
      </AgentProvider>
    </StrictMode>
  );
  const { text, render } = await mount(tree([], []));
  async function tell(...events: readonly AgentEvent[]): Promise<void> {
    page.streams[0]?.tell(...events);
    await page.draw();
  }
  await tell(started("r"), ...calling("m", "c", "pick", '{"of":"colours"}'));
  return {
    text,
    tell,
    show: (renderers: readonly ToolRenderer[], deps: readonly unknown[] = []) =>
      render(tree(renderers, deps)),
  };
}

const drawing = (name: string, words: string): ToolRenderer => ({ name, render: () => words });

it("draws nothing of a tool without a renderer, and goes back to the former when the newest is unmounted", async () => {
  const { text, show } = await setUp();
  expect(text()).toBe("");
  await show([drawing("*", "any")]);
  expect(text()).toBe("any");
  await show([drawing("*", "any"), drawing("pick", "pick")]);
  expect(text()).toBe("pick");
  await show([drawing("*", "any")]);
  await act(() => vi.waitFor(() => expect(text()).toBe("any")));
});

it("draws anew when a dependency changes, and whenever the call does by the newest render", async () => {
  const { text, show, tell } = await setUp();
  await show([drawing("pick", "one")], [1]);
  expect(text()).toBe("one");
  await show([drawing("pick", "two")], [2]);
  expect(text()).toBe("two");
  await show([drawing("pick", "three")], [2]);
  await tell({ type: "TOOL_CALL_END", toolCallId: "c" });
  expect(text()).toBe("three");
});

it("has the arguments once they are whole, and none where the model wrote no object", async () => {
  const { show, tell } = await setUp();
  const seen: unknown[] = [];
  const renderer: ToolRenderer = {
    name: "pick",
    render({ args, partialArgs, status }) {
      seen.push([status, args, partialArgs]);
      return null;
    },
  };
  await show([renderer]);
  expect(seen.at(-1)).toEqual(["streaming", undefined, { of: "colours" }]);
  await tell({ type: "TOOL_CALL_END", toolCallId: "c" });
  expect(seen.at(-1)).toEqual(["running", { of: "colours" }, { of: "colours" }]);
  await tell(...calling("m", "c2", "pick", "[1]"), { type: "TOOL_CALL_END", toolCallId: "c2" });
  expect(seen.at(-1)).toEqual(["running", undefined, {}]);
  await tell({
    type: "TOOL_CALL_RESULT",
    messageId: "t",
    toolCallId: "c",
    content: "No.",
    metadata: { throughline: { status: "error" } },
  });
  expect(seen).toContainEqual(["failed", { of: "colours" }, { of: "colours" }]);
});
