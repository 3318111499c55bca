import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { OFFLINE_MODEL_NAME, OfflineChatModel, type OfflineChatModelFields } from "./offline-model.js";
import type { OfflinePart, OfflinePrompt } from "./offline-turn.js";

const question = [new HumanMessage("What is the plan?")];

function modelSaying(parts: readonly OfflinePart[], fields: Partial<OfflineChatModelFields> = {}) {
  return new OfflineChatModel({ script: () => parts, paceMs: 0, ...fields });
}

async function chunksOf(model: OfflineChatModel, messages = question): Promise<AIMessageChunk[]> {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await model.stream(messages)) chunks.push(chunk);
  return chunks;
}

const concat = (chunks: readonly AIMessageChunk[]) => chunks.reduce((whole, chunk) => whole.concat(chunk));

const twoCalls: readonly OfflinePart[] = [
  { kind: "text", text: "Let me look." },
  { kind: "toolCall", name: "clock", args: { zone: "Europe/Paris" } },
  { kind: "toolCall", name: "lookup", args: { term: "naïve 🌊 waves that are long enough to split" } },
];

describe("the offline model's stream", () => {
  it("streams words whose concatenation is the text, under one message id", async () => {
    const text = "One  two\n\nthree. ";
    const chunks = await chunksOf(modelSaying([{ kind: "text", text }]));
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.map((chunk) => chunk.text).join("")).toBe(text);
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it("streams parallel calls as a start with id and name, then pieces of the arguments, each under its index", async () => {
    const chunks = await chunksOf(modelSaying(twoCalls));
    const pieces = chunks.flatMap((chunk) => chunk.tool_call_chunks ?? []);
    for (const [index, name] of ["clock", "lookup"].entries()) {
      const [start, ...args] = pieces.filter((piece) => piece.index === index);
      expect(start).toMatchObject({ name, args: "", id: expect.stringMatching(/^call_/) });
      expect(args.length).toBeGreaterThan(1);
      expect(args.every((piece) => piece.id === undefined && piece.name === undefined)).toBe(true);
    }
  });

  it("can call tools after text in the same message", async () => {
    const whole = concat(await chunksOf(modelSaying(twoCalls)));
    expect(whole.text).toBe("Let me look.");
    expect(whole.tool_calls?.map(({ name, args }) => ({ name, args }))).toEqual([
      { name: "clock", args: { zone: "Europe/Paris" } },
      { name: "lookup", args: { term: "naïve 🌊 waves that are long enough to split" } },
    ]);
    expect(whole.response_metadata.finish_reason).toBe("tool_calls");
  });

  it("gives reasoning as content blocks that the standard reader understands", async () => {
    const parts: OfflinePart[] = [
      { kind: "reasoning", text: "Is it? It is." },
      { kind: "text", text: "It is." },
    ];
    const whole = concat(await chunksOf(modelSaying(parts)));
    expect(whole.contentBlocks).toMatchObject([
      { type: "reasoning", reasoning: "Is it? It is." },
      { type: "text", text: "It is." },
    ]);
    expect(whole.text).toBe("It is.");
    expect(whole.usage_metadata).toMatchObject({ output_token_details: { reasoning: 4 } });
  });

  it("reports usage, finish reason and model on the last chunk only", async () => {
    const chunks = await chunksOf(modelSaying([{ kind: "text", text: "Four words are here" }]));
    const last = chunks.at(-1);
    // "human What is the plan?" and "Four words are here", by white space.
    expect(last?.usage_metadata).toEqual({ input_tokens: 5, output_tokens: 4, total_tokens: 9 });
    expect(last?.response_metadata).toMatchObject({ finish_reason: "stop", model_name: OFFLINE_MODEL_NAME });
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.usage_metadata).toBeUndefined();
      expect(chunk.response_metadata.finish_reason).toBeUndefined();
    }
  });

  it("ends an empty turn with usage alone", async () => {
    const chunks = await chunksOf(modelSaying([]));
    expect(chunks).toHaveLength(1);
    expect(chunks[0]?.usage_metadata).toMatchObject({ output_tokens: 0 });
  });

  it("says the same through invoke as through stream", async () => {
    const model = modelSaying(twoCalls);
    const streamed = concat(await chunksOf(model));
    const invoked = await model.invoke(question);
    expect(AIMessage.isInstance(invoked)).toBe(true);
    expect(invoked.id).toBe(streamed.id);
    expect(invoked.content).toEqual(streamed.content);
    expect(invoked.tool_calls).toEqual(streamed.tool_calls);
    expect(invoked.usage_metadata).toEqual(streamed.usage_metadata);
  });

  it("waits its pace before every token", async () => {
    const began = performance.now();
    await chunksOf(modelSaying([{ kind: "text", text: "one two three" }], { paceMs: 20 }));
    // A timer may fire up to a millisecond early.
    expect(performance.now() - began).toBeGreaterThan(3 * 19);
  });
});

describe("the offline model's determinism", () => {
  it("gives the same ids for the same prompt, whatever ids the prompt's messages have", async () => {
    const ids = async (id: string) => {
      const message = await modelSaying(twoCalls).invoke([new HumanMessage({ content: "hi", id })]);
      return [message.id, ...(message.tool_calls ?? []).map((call) => call.id)];
    };
    const [first, second] = [await ids("a"), await ids("b")];
    expect(first).toEqual(second);
    expect(new Set(first).size).toBe(3);
  });

  it("gives new ids once the conversation has grown, and to a twin node", async () => {
    const model = modelSaying(twoCalls);
    const first = await model.invoke(question);
    const second = await model.invoke([...question, new AIMessage("Let me look."), ...question]);
    const twin = await modelSaying(twoCalls, { callSite: "twin#1" }).invoke(question);
    expect(new Set([first.id, second.id, twin.id]).size).toBe(3);
    expect(new Set([first, second, twin].map((message) => message.tool_calls?.[0]?.id)).size).toBe(3);
  });
});

describe("the offline model's script", () => {
  it("is told the bound tools, in LangChain's form and in OpenAI's, and the newest human text", async () => {
    const seen: OfflinePrompt[] = [];
    const model = new OfflineChatModel({
      paceMs: 0,
      script: (prompt) => {
        seen.push(prompt);
        return [];
      },
    });
    const bound = model.bindTools([
      { name: "clock", schema: {} },
      { type: "function", function: { name: "lookup", parameters: {} } },
    ]);
    await bound.invoke([
      new SystemMessage("Be kind."),
      new HumanMessage("first"),
      new HumanMessage("newest"),
    ]);
    await model.invoke([new SystemMessage("Be kind.")]);
    expect(seen.map(({ tools, lastUserText }) => ({ tools, lastUserText }))).toEqual([
      { tools: ["clock", "lookup"], lastUserText: "newest" },
      { tools: [], lastUserText: "" },
    ]);
  });
});

describe("the offline model when it must not finish", () => {
  it("fails after as many tokens as it was told", async () => {
    const model = modelSaying([{ kind: "text", text: "one two three four" }], { failAfterTokens: 2 });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of await model.stream(question)) seen.push(chunk.text);
    })();
    await expect(reading).rejects.toThrow("told to fail after 2 tokens");
    expect(seen.join("")).toBe("one two");
  });

  it("can fail before the first token and after the last", async () => {
    const words: OfflinePart[] = [{ kind: "text", text: "one two" }];
    await expect(modelSaying(words, { failAfterTokens: 0 }).invoke(question)).rejects.toThrow(
      "after 0 tokens",
    );
    await expect(modelSaying(words, { failAfterTokens: 2 }).invoke(question)).rejects.toThrow(
      "after 2 tokens",
    );
    await expect(modelSaying(words, { failAfterTokens: 3 }).invoke(question)).resolves.toBeDefined();
  });

  it("stops as soon as it is aborted, in the middle of a pause", async () => {
    const stop = new AbortController();
    const model = modelSaying([{ kind: "text", text: "one two three" }], { paceMs: 60_000 });
    const reading = model.invoke(question, { signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toThrow(/abort/i);
  });

  it("stops at the next token when it sets no timer", async () => {
    const stop = new AbortController();
    const model = modelSaying([{ kind: "text", text: "one two three" }]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of await model.stream(question, { signal: stop.signal })) {
        seen.push(chunk.text);
        stop.abort();
      }
    })();
    await expect(reading).rejects.toThrow(/abort/i);
    expect(seen).toEqual(["one"]);
  });
});
