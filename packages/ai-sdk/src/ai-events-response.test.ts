import type { AiEvent } from "@throughline/ai-core";
import { readUIMessageStream, UI_MESSAGE_STREAM_HEADERS, type UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { aiEventsResponse, readAiEvents, uiMessageStreamOf } from "./ai-events-response.js";

const USAGE = {
  type: "usage_report",
  usageUnitId: null,
  model: "offline",
  inputTokens: 3,
  outputTokens: 5,
  costUsd: null,
  executorType: "inproc",
} as const;
const RUN: readonly AiEvent[] = [
  { type: "text_delta", delta: "First " },
  { type: "text_delta", delta: "the plan." },
  { type: "tool_call_start", toolCallId: "c1", toolName: "clock", args: { zone: "UTC" } },
  { type: "tool_call_start", toolCallId: "c2", toolName: "lookup", args: {} },
  { type: "tool_call_result", toolCallId: "c1", toolName: "clock", result: "noon", isError: false },
  { type: "tool_call_result", toolCallId: "c2", toolName: "lookup", result: "no such word", isError: true },
  { type: "text_delta", delta: "It is noon." },
  USAGE,
  { type: "assistant_final", content: "It is noon." },
  { type: "done" },
];

async function* told(events: readonly AiEvent[]): AsyncGenerator<AiEvent> {
  yield* events;
}

async function built(events: AsyncIterable<AiEvent>): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  for await (const state of readUIMessageStream({
    stream: uiMessageStreamOf(events),
    terminateOnError: true,
  }))
    last = state;
  return last;
}

describe("AiEvents as a UI message stream", () => {
  it("build what was said and done, in order", async () => {
    const message = await built(told(RUN));
    expect(message?.parts).toMatchObject([
      { type: "text", text: "First the plan.", state: "done" },
      {
        type: "dynamic-tool",
        toolName: "clock",
        state: "output-available",
        input: { zone: "UTC" },
        output: "noon",
      },
      { type: "dynamic-tool", toolName: "lookup", state: "output-error", errorText: "no such word" },
      { type: "text", text: "It is noon.", state: "done" },
    ]);
    expect(message?.metadata).toMatchObject({ usage: { inputTokens: 3, outputTokens: 5 } });
  });

  const textsOf = async (events: readonly AiEvent[]) =>
    (await built(told(events)))?.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const final = (content: string): AiEvent[] => [{ type: "assistant_final", content }, { type: "done" }];

  it("have the final text where it did not stream", async () => {
    expect(await textsOf([USAGE, ...final("the answer")])).toEqual(["the answer"]);
    const tool = RUN.slice(2, 6);
    expect(await textsOf([{ type: "text_delta", delta: "plan" }, ...tool, ...final("done")])).toEqual([
      "plan",
      "done",
    ]);
  });

  it("name the text that another took the place of, and repeat none that stands", async () => {
    const routed = await built(told([{ type: "text_delta", delta: "weather" }, ...final("It rains.")]));
    expect(routed?.parts).toMatchObject([
      { type: "text", text: "weather", providerMetadata: { throughline: { messageId: "1" } } },
      { type: "data-retracted", data: { messageIds: ["1"] } },
      { type: "text", text: "It rains." },
    ]);
    expect(
      await textsOf([{ type: "text_delta", delta: "plan" }, ...RUN.slice(2, 6), ...final("plan")]),
    ).toEqual(["plan"]);
  });

  it("ask what a run asks", async () => {
    const asks: AiEvent = {
      type: "done",
      status: "interrupted",
      interrupts: [{ interruptId: "i1", value: "Sure?" }],
    };
    const message = await built(told([{ type: "assistant_final", content: "" }, asks]));
    expect(message?.parts).toEqual([
      { type: "data-question", id: "i1", data: { id: "i1", value: "Sure?", status: "open" } },
    ]);
  });

  it("tell a failed run as an error, and nothing of an error that is not a run's", async () => {
    const failed: AiEvent = { type: "error", ok: false, code: "run_failed", message: "The graph failed." };
    await expect(built(told([failed]))).rejects.toThrow("The graph failed.");
    async function* broken(): AsyncGenerator<AiEvent> {
      yield { type: "text_delta", delta: "so" };
      throw new Error("sk-secret");
    }
    await expect(built(broken())).rejects.toThrow("The answer broke off.");
  });

  it("are read from an answer of POST /runs, and answered as the AI SDK's helper answers", async () => {
    const text = RUN.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    const response = aiEventsResponse(readAiEvents(new Response(text)), { headers: { "x-own": "1" } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...UI_MESSAGE_STREAM_HEADERS,
      "x-own": "1",
    });
    expect(await response.text()).toMatch(/"delta":"It is noon\."[\s\S]*data: \[DONE\]\n\n$/);
    const wrong = readAiEvents(new Response('data: {"type":"nope"}\n\n'));
    await expect(wrong.next()).rejects.toThrow();
  });
});
