import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { envKeyResolver } from "@throughline/langgraph-models";
import { describe, expect, it } from "vitest";
import { chatDefinition, createChatGraph } from "./graph.js";

const noon = () => new Date("2026-03-01T12:00:00Z");

function conversation() {
  const graph = createChatGraph({ keys: envKeyResolver({}), checkpointer: new MemorySaver() }, noon);
  const config = { configurable: { thread_id: "thread-1", offline: { paceMs: 0 } } };
  return async (text: string): Promise<readonly BaseMessage[]> => {
    const state = await graph.invoke({ messages: [{ role: "user", content: text }] }, config);
    expect(chatDefinition.outputSchema.safeParse(state).error).toBeUndefined();
    return state.messages;
  };
}

const callsOf = (messages: readonly BaseMessage[]) =>
  messages.flatMap((message) =>
    AIMessage.isInstance(message) || AIMessageChunk.isInstance(message)
      ? [(message.tool_calls ?? []).map((call) => call.name)]
      : [],
  );
const resultsOf = (messages: readonly BaseMessage[]) =>
  messages.filter((message) => ToolMessage.isInstance(message));
const lastText = (messages: readonly BaseMessage[]) => messages.at(-1)?.text;

describe("chat", () => {
  it.each([
    ["What is (2 + 3) * 4.5?", "calculator", "(2 + 3) * 4.5 = 22.5"],
    ["What is the time in Tokyo?", "clock", "Sunday, 1 March 2026 at 21:00 in Asia/Tokyo"],
    ["What time is it in Africa/Nairobi?", "clock", "15:00 in Africa/Nairobi"],
    ["Tell me about Japan", "lookup", "capital Tokyo"],
    ["Please look up Atlantis", "lookup", 'no entry for "Atlantis"'],
  ])("answers “%s” with the %s", async (text, name, answer) => {
    const messages = await conversation()(text);
    expect(callsOf(messages)).toEqual([[name], []]);
    expect(lastText(messages)).toContain(answer);
  });

  it("makes two calls at once for a question with two parts", async () => {
    const messages = await conversation()("What is 6 * 7 and what is the time in Paris?");
    expect(callsOf(messages)).toEqual([["calculator", "clock"], []]);
    expect(lastText(messages)).toMatch(/= 42\n.*13:00 in Europe\/Paris/);
  });

  it("says its plan and calls in one message when asked to do first one, then the other", async () => {
    const messages = await conversation()("First tell me what you will do, then compute 1 + 1.");
    expect(messages[1]?.text).toContain("First the plan");
    expect(callsOf(messages)).toEqual([["calculator"], []]);
  });

  it.each([
    ["What is 1 / (2 - 2)?", "Division by zero"],
    ["What is the time in Atlantis?", '"Atlantis" is not an IANA time zone'],
  ])("turns a failing tool into a result with status error: %s", async (text, reason) => {
    const messages = await conversation()(text);
    expect(resultsOf(messages)).toMatchObject([
      { status: "error", content: expect.stringContaining(reason) },
    ]);
    expect(lastText(messages)).toContain("could not help");
  });

  it("remembers earlier turns of its thread", async () => {
    const say = conversation();
    await say("My name is Ada.");
    const messages = await say("Who are you talking to?");
    expect(lastText(messages)).toContain("My name is Ada.");
    expect(lastText(messages)).toContain("message 2");
    expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length);
  });

  it("answers the same question twice in one thread with messages of their own", async () => {
    const say = conversation();
    await say("What is 1 + 1?");
    const messages = await say("What is 1 + 1?");
    expect(messages).toHaveLength(8);
  });

  it("refuses a run whose configuration is wrong, naming the field", async () => {
    const graph = createChatGraph({ keys: envKeyResolver({}) }, noon);
    const run = graph.invoke({ messages: [{ role: "user", content: "hi" }] }, { configurable: { model: 1 } });
    await expect(run).rejects.toMatchObject({ issues: [{ path: ["model"] }] });
  });
});
