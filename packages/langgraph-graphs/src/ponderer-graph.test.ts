import { AIMessageChunk } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { envKeyResolver } from "@throughline/langgraph-models";
import { describe, expect, it } from "vitest";
import { createPondererGraph, pondererDefinition } from "./ponderer.js";

const config = { configurable: { thread_id: "thread-1", offline: { paceMs: 0 } } };
const asking = (content: string) => ({ messages: [{ role: "user", content }] });

describe("ponderer", () => {
  it("streams its reasoning first and its answer after that", async () => {
    const graph = createPondererGraph({ keys: envKeyResolver({}) });
    const kinds: string[] = [];
    for await (const [message] of await graph.stream(asking("Should I move?"), {
      ...config,
      streamMode: "messages",
    })) {
      if (!AIMessageChunk.isInstance(message)) continue;
      for (const block of message.contentBlocks) if (block.type !== kinds.at(-1)) kinds.push(block.type);
    }
    expect(kinds.filter((kind) => kind !== "")).toEqual(["reasoning", "text"]);
  });

  it("keeps reasoning and answer as two blocks of one message", async () => {
    const graph = createPondererGraph({ keys: envKeyResolver({}), checkpointer: new MemorySaver() });
    await graph.invoke(asking("Should I move?"), config);
    const state = await graph.invoke(asking("And if I wait?"), config);
    expect(pondererDefinition.outputSchema.safeParse(state).error).toBeUndefined();
    expect(state.messages).toHaveLength(4);
    const blocks = state.messages.at(-1)?.contentBlocks;
    expect(blocks).toMatchObject([{ type: "reasoning" }, { type: "text" }]);
    expect(JSON.stringify(blocks)).toContain("already spoken once");
  });
});
