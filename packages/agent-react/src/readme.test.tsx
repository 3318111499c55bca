// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "@throughline/agent-client";
import { expect, it, onTestFinished, vi } from "vitest";
import { AgentProvider, ThreadProvider } from "./index.js";
import { createFakePage, finished, mount, started, token, told } from "./testing/fake-page.js";
import { Messages } from "./testing/long-thread.js";

const here = import.meta.dirname;

it("shows in the README the very lines that are compiled and rendered here, and twenty are twenty", () => {
  const readme = readFileSync(join(here, "../README.md"), "utf8");
  const shown = [...readme.matchAll(/```tsx\n(.*?)```/gs)].map(([, lines]) => lines);
  const compiled = ["twenty-lines", "long-thread"].map((name) =>
    readFileSync(join(here, `testing/${name}.tsx`), "utf8").replace(
      "../index.js",
      "@throughline/agent-react",
    ),
  );
  expect(shown).toEqual(compiled);
  expect(compiled[0]?.split("\n").filter((line) => line !== "")).toHaveLength(20);
});

it("runs the README's lines: what is typed is sent, and the answer appears as it comes", async () => {
  const { fetch, stream, runs } = createFakeRoutes();
  vi.stubGlobal("fetch", fetch);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { App } = await import("./testing/twenty-lines.js");
  const { container, text } = await mount(<App />);
  drawByItself();
  await vi.waitFor(() => expect(stream.isOpen()).toBe(true));
  stream.tell(...told([]));

  const input = container.querySelector("input");
  const form = container.querySelector("form");
  if (input) input.value = "A line about rivers.";
  // As the Enter key does. happy-dom's own requestSubmit() names a submitter that it then refuses.
  form?.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
  await vi.waitFor(() => expect(text()).toBe("A line about rivers."));
  await vi.waitFor(() => expect(runs).toHaveLength(1));
  const runId = runs[0]?.runId ?? "";
  expect(runs[0]?.messages[0]?.content).toBe("A line about rivers.");

  stream.tell(started(runId), { type: "TEXT_MESSAGE_START", messageId: "m" }, token("m", "Rivers"));
  await vi.waitFor(() => expect(text()).toContain("Rivers"));
  stream.tell(token("m", " wait."), { type: "TEXT_MESSAGE_END", messageId: "m" }, finished(runId));
  await vi.waitFor(() => expect(text()).toContain("Rivers wait."));
});

it("runs the README's lines for long threads", async () => {
  const page = createFakePage();
  const { text } = await mount(
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <Messages />
      </ThreadProvider>
    </AgentProvider>,
  );
  page.streams[0]?.tell(
    ...told([
      { id: "m", content: "Rivers wait." },
      {
        id: "f",
        content: [
          { type: "text", text: " Read." },
          { type: "binary", id: "f1" },
        ],
      },
    ]),
  );
  await page.draw();
  expect(text()).toBe("Rivers wait. Read.");
});

/** Frames come when the page draws, as they do for a person, and React need not be told. */
function drawByItself(): void {
  globalThis.IS_REACT_ACT_ENVIRONMENT = false;
  onTestFinished(() => {
    globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  });
}

interface AskedRun {
  readonly runId: string;
  readonly messages: readonly { readonly content: string }[];
}

/** The service's routes as far as one chat needs them, with a stream that says what the test wants. */
function createFakeRoutes() {
  const runs: AskedRun[] = [];
  let open: ReadableStreamDefaultController<Uint8Array> | undefined;
  let ids = 0;

  function encode(event: AgentEvent): Uint8Array {
    ids += 1;
    return new TextEncoder().encode(`event: 0\nid: c${ids}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  function answer(start: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Response {
    return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
  }

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    if (url === "/api/copilotkit/follow") {
      return answer((controller) => {
        open = controller;
      });
    }
    expect(url).toBe("/api/copilotkit/agent/langgraph%3Apoet/run");
    const asked: AskedRun = JSON.parse(String(init.body));
    runs.push(asked);
    return answer((controller) => controller.enqueue(encode(started(asked.runId))));
  }

  const stream = {
    isOpen: () => open !== undefined,
    tell(...events: readonly AgentEvent[]) {
      for (const event of events) open?.enqueue(encode(event));
    },
  };
  return { fetch, runs, stream };
}
