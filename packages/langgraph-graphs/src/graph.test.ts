import { AIMessageChunk } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { envKeyResolver } from "@throughline/langgraph-models";
import { describe, expect, it } from "vitest";
import { createPoetGraph, poetDefinition, topicOf } from "./poet.js";

const config = { configurable: { thread_id: "thread-1", offline: { paceMs: 0 } } };
const asking = (content: string) => ({ messages: [{ role: "user", content }] });

describe("poet", () => {
  it("streams a poem on the topic, token by token, and keeps it in the state", async () => {
    const graph = createPoetGraph({ keys: envKeyResolver({}), checkpointer: new MemorySaver() });
    const tokens: string[] = [];
    for await (const [message] of await graph.stream(asking("Write a poem about the tide."), {
      ...config,
      streamMode: "messages",
    })) {
      if (AIMessageChunk.isInstance(message)) tokens.push(message.text);
    }
    expect(tokens.length).toBeGreaterThan(40);
    const { values } = await graph.getState(config);
    expect(poetDefinition.outputSchema.safeParse(values).error).toBeUndefined();
    expect(values.messages.at(-1)?.text).toBe(tokens.join(""));
    expect(tokens.join("")).toContain("the tide");
  });

  it("writes another poem when asked again, and the same one in another thread", async () => {
    const poems = async () => {
      const graph = createPoetGraph({ keys: envKeyResolver({}), checkpointer: new MemorySaver() });
      const first = await graph.invoke(asking("rain"), config);
      const second = await graph.invoke(asking("rain"), config);
      return [first.messages.at(-1)?.text, second.messages.at(-1)?.text];
    };
    const [first, second] = await poems();
    expect(first).not.toBe(second);
    expect(await poems()).toEqual([first, second]);
  });

  it.each([
    ["Please write a poem about the old harbour!", "the old harbour"],
    ["rain", "rain"],
    ["  ", "nothing in particular"],
  ])("takes “%s” as a wish for a poem on “%s”", (request, topic) => {
    expect(topicOf(request)).toBe(topic);
  });
});
