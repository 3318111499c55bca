// @vitest-environment happy-dom
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AccountApi, AgentEvent, WireInterrupt } from "@throughline/agent-client";
import { act, type ReactNode } from "react";
import { expect, it, onTestFinished, vi } from "vitest";
import { AgentProvider, ThreadProvider, useCommands, useQueue } from "./index.js";
import { Composer } from "./testing/examples/attachments.js";
import { Steps } from "./testing/examples/custom-events.js";
import { Colour } from "./testing/examples/frontend-tool.js";
import { Plan } from "./testing/examples/predict-state.js";
import { Question } from "./testing/examples/question.js";
import { Waiting } from "./testing/examples/queue.js";
import { Conversation } from "./testing/examples/render-tool.js";
import { RunningWork } from "./testing/examples/running-work.js";
import { Sent } from "./testing/examples/sent-messages.js";
import { ThreadList } from "./testing/examples/threads.js";
import {
  calling,
  createFakeAccount,
  createFakePage,
  finished,
  mount,
  Probe,
  started,
  told,
} from "./testing/fake-page.js";

const here = import.meta.dirname;

const WITH_FILE = [
  { type: "text", text: "Read this." },
  { type: "binary", mimeType: "text/plain", id: "f1", filename: "tides.txt" },
];

it("shows in docs/react.md the very lines that are compiled and rendered here", () => {
  const shown = readFileSync(join(here, "../../../docs/react.md"), "utf8");
  const blocks = [...shown.matchAll(/```tsx\n(.*?)```/gs)].map(([, lines]) => lines).sort();
  const folder = join(here, "testing/examples");
  const compiled = readdirSync(folder).map((name) =>
    readFileSync(join(folder, name), "utf8").replace("../../index.js", "@throughline/agent-react"),
  );
  expect(blocks).toEqual(compiled.sort());
});

it("opens the thread of the providers that docs/react.md shows", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { Providers } = await import("./testing/examples/providers.js");
  const { text } = await mount(<Providers>Rivers</Providers>);
  expect(text()).toBe("Rivers");
  await vi.waitFor(() => expect(asked).toContain("/api/copilotkit/follow"));
});

/** The example on a thread's page. */
async function show(example: ReactNode, account: Partial<AccountApi> = {}) {
  const page = createFakePage();
  const mounted = await mount(
    <AgentProvider client={page.client} account={createFakeAccount(account)}>
      <ThreadProvider agentId="poet" threadId="t">
        {example}
      </ThreadProvider>
    </AgentProvider>,
  );
  const buttons = () => [...mounted.container.querySelectorAll("button")];
  return {
    ...page,
    ...mounted,
    async tell(...events: readonly AgentEvent[]) {
      page.streams[0]?.tell(...events);
      await page.draw();
    },
    async press(label: string) {
      await act(async () =>
        buttons()
          .find(({ textContent }) => textContent?.startsWith(label))
          ?.click(),
      );
      await page.draw();
    },
    async submit(words: string) {
      const input = mounted.container.querySelector<HTMLInputElement>("input[name=text]");
      if (input) input.value = words;
      // As the Enter key does. happy-dom's own requestSubmit() names a submitter that it then refuses.
      const event = new SubmitEvent("submit", { bubbles: true, cancelable: true });
      await act(async () => mounted.container.querySelector("form")?.dispatchEvent(event));
      await page.draw();
    },
  };
}

it("useThread: names the work under way", async () => {
  const { tell, text } = await show(<RunningWork />);
  const call = { runId: "r", parentId: null, kind: "node", attempt: 0, startedAt: 1 } as const;
  await tell(...told([]), {
    type: "CUSTOM",
    name: "throughline.calls",
    value: {
      whole: true,
      calls: [
        { ...call, callId: "1", name: "plan", status: "ok", endedAt: 2 },
        { ...call, callId: "2", name: "write", status: "running", endedAt: null },
      ],
    },
  });
  expect(text()).toBe("write");
});

it("useFrontendTool: shows the colour that the agent named, not the object it came in", async () => {
  const { tell, text, draw, sent } = await show(<Colour />);
  await tell(
    started("r"),
    { type: "TEXT_MESSAGE_START", messageId: "m" },
    ...calling("m", "c", "show_colour", '{"colour":"teal"}'),
    finished("r"),
  );
  await act(() => vi.waitFor(() => expect(sent).toHaveLength(1)));
  await draw();
  expect(text()).toBe("teal");
});

it("useRenderTool: draws a call while its arguments come, while it runs, and when it is answered", async () => {
  const { tell, text } = await show(<Conversation />);
  await tell(started("r"), ...calling("m", "c", "get_weather", '{"city":"Ba'));
  expect(text()).toBe("Weather in Ba: streaming");
  await tell(
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: 'sel"}' },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    ...calling("m", "c2", "look_up", "{}"),
  );
  expect(text()).toBe("Weather in Basel: runninglook_up: streaming");
  await tell({ type: "TOOL_CALL_RESULT", messageId: "t", toolCallId: "c", content: "rain" });
  expect(text()).toBe("Weather in Basel: rainlook_up: streaming");
  await tell({ type: "TOOL_CALL_END", toolCallId: "c2" }, { type: "RUN_ERROR", message: "No." });
  expect(text()).toBe("Weather in Basel: rainlook_up: cancelled");
});

it("useCustomEvents: shows what the run says of its own, once, and nothing of the run before", async () => {
  const { tell, text } = await show(<Steps />);
  const step = (value: number): AgentEvent => ({ type: "CUSTOM", name: "step", value });
  await tell(started("r1"), step(1), finished("r1"), started("r2"), step(2));
  await tell({ type: "CUSTOM", name: "other", value: 0 }, step(3));
  expect(text()).toBe("2 → 3");
  // Connected anew, the page is told of the same run again.
  await tell(started("r2"), step(4));
  expect(text()).toBe("2 → 3 → 4");
});

function asking(runId: string, interrupt: WireInterrupt): AgentEvent[] {
  const outcome = { type: "interrupt", interrupts: [interrupt] } as const;
  return [started(runId), { type: "RUN_FINISHED", threadId: "t", runId, outcome }];
}

it("useInterrupt: answers in the graph's own spelling", async () => {
  const { tell, text, press, submit, sent } = await show(<Question />);
  const raw = { action_requests: [{ name: "pay", args: { amount: 3 } }] };
  await tell(...asking("r", { id: "q", reason: "tool_call", metadata: { langgraph: { raw } } }));
  expect(text()).toContain('pay {"amount":3}');
  await submit("");
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.input.answers).toEqual({ q: { decisions: [{ type: "approve" }] } });

  const { id = "" } = sent[0] ?? {};
  await tell(...asking(id, { id: "q2", reason: "tool_call", metadata: { langgraph: { raw } } }));
  await press("Reject");
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.input.answers).toMatchObject({ q2: { decisions: [{ type: "reject" }] } });
});

it("useInterrupt: answers with the value of an option", async () => {
  const { tell, press, sent } = await show(<Question />);
  const raw = { message: "Which?", options: [{ label: "Brass", value: { metal: 1 } }, "wood"] };
  await tell(...asking("r", { id: "q", reason: "input_required", metadata: { langgraph: { raw } } }));
  await press("Brass");
  expect(sent[0]?.input.answers).toEqual({ q: { metal: 1 } });
});

it("useThreads: lists threads, page by page, and opens one", async () => {
  const row = { agentId: "langgraph:poet", archived: false, status: "idle", lastActivityAt: "" } as const;
  const pages = new Map<string | undefined, string>([
    [undefined, "a"],
    ["a", "b"],
  ]);
  const threads = vi.fn<AccountApi["threads"]>(async (_, query) => {
    const threadId = pages.get(query?.after) ?? "";
    return { threads: [{ ...row, threadId, title: null }], next: threadId === "a" ? "a" : null };
  });
  const onOpen = vi.fn();
  const { text, press } = await show(<ThreadList onOpen={onOpen} />, { threads });
  await vi.waitFor(() => expect(text()).toBe("a (idle)More"));
  await press("More");
  await vi.waitFor(() => expect(text()).toBe("a (idle)b (idle)"));
  expect(threads.mock.calls).toEqual([
    ["langgraph:poet", { limit: 20 }],
    ["langgraph:poet", { limit: 20, after: "a" }],
  ]);
  await press("b");
  expect(onOpen).toHaveBeenCalledWith("b");
});

it.each([
  ["useMessages", <Sent key="sent" />, "user"],
  ["useRenderTool", <Conversation key="conversation" />, "assistant"],
])("%s: shows the words of a message that has files, not the objects they come in", async (_, page, role) => {
  const { tell, text } = await show(page);
  await tell(...told([{ id: "m", role, content: WITH_FILE }]));
  expect(text()).toBe("Read this.");
});

it("useQueue: shows the words of a message that has files and waits", async () => {
  let add: ReturnType<typeof useQueue>["add"] | undefined;
  const { tell, text } = await show(
    <>
      <Waiting />
      <Probe
        use={() => {
          ({ add } = useQueue());
        }}
      />
    </>,
  );
  await tell(...told([]), started("cron"));
  void add?.(WITH_FILE);
  await tell();
  expect(text()).toBe("Read this.Discard");
});

it("useQueue: shows what waits for its turn, and gives it up", async () => {
  const { tell, text, submit, press, sent } = await show(<Waiting />);
  await tell(...told([]), started("cron"));
  await submit("first");
  await submit("second");
  expect(text()).toBe("firstDiscardsecondDiscard");
  await press("Discard");
  expect(text()).toBe("secondDiscard");
  await tell(finished("cron"));
  expect(text()).toBe("");
  expect(sent.map(({ input }) => input.messages?.[0]?.content)).toEqual(["second"]);
});

it("useAttachments: uploads when a file is chosen, and names it in the message", async () => {
  const upload = vi.fn<AccountApi["upload"]>(async (_, { name }) =>
    name === "tides.txt"
      ? { id: "f1", mimeType: "text/plain" }
      : { kind: "refused", status: 413, code: "too_large", message: "Too large." },
  );
  const { container, text, submit, press, sent } = await show(<Composer />, { upload });
  const input = container.querySelector<HTMLInputElement>("input[type=file]");
  const files = [new File(["high"], "tides.txt", { type: "text/plain" }), new File(["x"], "film.mp4")];
  if (input) Object.defineProperty(input, "files", { value: files });
  await act(async () => input?.dispatchEvent(new Event("change", { bubbles: true })));
  await vi.waitFor(() => expect(text()).toBe("tides.txt: readyfilm.mp4: Too large.Send"));
  await press("film.mp4");
  await submit("Read this.");
  expect(sent[0]?.input.messages?.[0]?.content).toEqual([
    { type: "text", text: "Read this." },
    { type: "binary", mimeType: "text/plain", id: "f1", filename: "tides.txt" },
  ]);
  expect(text()).toBe("Send");
});

it("usePredictState: shows the state before the tool has put it there, and then what it is", async () => {
  const { tell, text } = await show(<Plan />);
  const predicts: AgentEvent = {
    type: "CUSTOM",
    name: "PredictState",
    value: [{ state_key: "plan", tool: "write", tool_argument: "text" }],
  };
  await tell(started("r"), ...calling("m", "c", "write"), predicts);
  expect(text()).toBe("No plan yet.");
  await tell({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"text":"First, ' });
  expect(text()).toBe("First, ");
  await tell(
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: 'rest."}' },
    { type: "TOOL_CALL_END", toolCallId: "c" },
  );
  expect(text()).toBe("First, rest.");
  await tell({ type: "STATE_DELTA", delta: [{ op: "add", path: "/plan", value: "Rest." }] });
  expect(text()).toBe("Rest.");
});

it("useMessages: shows what is sent at once, as the same element when the thread has it, and when it is refused", async () => {
  let send: ReturnType<typeof useCommands>["send"] | undefined;
  const { tell, text, draw, press, container, answerNext, sent } = await show(
    <>
      <Sent />
      <Probe
        use={() => {
          ({ send } = useCommands());
        }}
      />
    </>,
  );
  await tell(...told([]));
  answerNext({ kind: "refused", code: "rate_limited", message: "Later." });
  void send?.("hello");
  await draw();
  const shown = container.querySelector("p");
  expect(shown?.getAttribute("aria-busy")).toBe("true");
  await act(async () => {});
  await draw();
  expect(text()).toBe("helloSend againDiscard");
  await press("Send again");
  const { id = "", input } = sent[1] ?? {};
  const messages = (input?.messages ?? []).map((message) => ({
    id: message.id,
    role: "user",
    content: "hello",
  }));
  await tell({ type: "RUN_STARTED", threadId: "t", runId: id, input: { messages } });
  expect(text()).toBe("hello");
  expect(container.querySelector("p")).toBe(shown);
  expect(shown?.getAttribute("aria-busy")).toBe("false");
});
