// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, Profiler } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CallerContext } from "../../data/caller";
import { createQueryClient } from "../../data/query";
import { openThread, runStarted } from "../../data/testing/open-thread";
import { AssistantMessage } from "./assistant-message";
import { ThreadSessionProvider } from "./thread-session";

const CALLER = { isPerson: true, subject: "ann", role: "operator", refusal: () => undefined };

beforeEach(() => vi.stubGlobal("fetch", async () => Response.json({ feedback: [], next: null })));
afterEach(() => vi.unstubAllGlobals());

it("shows the end of an answer in one commit, and its actions in a later one", async () => {
  const seen: { readonly text: string | null; readonly buttons: number }[] = [];
  const look = () => {
    const message = document.getElementById("message-new");
    if (message) {
      const { textContent: text } = message;
      seen.push({ text, buttons: message.querySelectorAll("button").length });
    }
  };
  const { place, tell } = await openThread(
    <QueryClientProvider client={createQueryClient()}>
      <CallerContext value={CALLER}>
        <ThreadSessionProvider onSend={() => {}}>
          <AssistantMessage id="old" anchor="turn-1" />
          <Profiler id="new" onRender={look}>
            <AssistantMessage id="new" anchor="turn-2" />
          </Profiler>
        </ThreadSessionProvider>
      </CallerContext>
    </QueryClientProvider>,
  );
  document.body.append(place);
  await tell(
    runStarted("r"),
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "MESSAGES_SNAPSHOT", messages: [{ id: "old", role: "assistant", content: "Before" }] },
    { type: "TEXT_MESSAGE_START", messageId: "new" },
  );
  // What is loaded on demand is there.
  await act(() => vi.waitFor(() => expect(place.querySelectorAll("#message-old button")).toHaveLength(5)));
  seen.splice(0);
  await tell(
    { type: "TEXT_MESSAGE_CONTENT", messageId: "new", delta: "The end" },
    { type: "TEXT_MESSAGE_END", messageId: "new" },
  );
  expect(seen[0]).toEqual({ text: "The end", buttons: 0 });
  expect(seen.at(-1)).toEqual({ text: "The end", buttons: 5 });
  place.remove();
});

it("has no row of actions between a step's tools and those of the next", async () => {
  const { place, tell } = await openThread(
    <QueryClientProvider client={createQueryClient()}>
      <CallerContext value={CALLER}>
        <ThreadSessionProvider onSend={() => {}}>
          <AssistantMessage id="step" anchor="turn-1" />
          <AssistantMessage id="answer" anchor="turn-1" />
        </ThreadSessionProvider>
      </CallerContext>
    </QueryClientProvider>,
  );
  const toolCalls = [{ id: "todos", type: "function", function: { name: "write_todos", arguments: "{}" } }];
  await tell(
    runStarted("r"),
    { type: "STATE_SNAPSHOT", snapshot: {} },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "step", role: "assistant", content: "First I plan", toolCalls },
        { id: "answer", role: "assistant", content: "Done" },
      ],
    },
  );
  const rowOf = (id: string) =>
    place.querySelector(`#message-${id} button[aria-label^="Copy as"]`)?.closest("[data-floating]");
  await act(() => vi.waitFor(() => expect(rowOf("answer")).toBeTruthy()));
  expect(rowOf("answer")?.getAttribute("data-floating")).toBe("false");
  expect(rowOf("step")?.getAttribute("data-floating")).toBe("true");
  place.remove();
});
