import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import type { AttachmentPort } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { openThread } from "../behaviour/thread-session.js";
import { createMemoryCheckpointer } from "../checkpoints/checkpointer.js";
import { describeLoadedGraph, graphRegistry } from "../graphs/graph.js";
import { createInProcProvider } from "../inproc/provider.js";
import { storedText } from "./stored-text-fixture.js";

const BYTES = Buffer.from("a picture that a tool made ".repeat(60));
const DATA = BYTES.toString("base64");

/** Every place that bytes may stand in, as tools and models make them. */
const BLOCKS: readonly (readonly [string, object])[] = [
  ["LangChain", { type: "image", data: DATA, mimeType: "image/png", index: 0 }],
  ["bytes", { type: "image", data: Uint8Array.from(BYTES), mimeType: "image/png" }],
  ["OpenAI", { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}`, detail: "low" } }],
  ["OpenAI's audio", { type: "input_audio", input_audio: { data: DATA, format: "mp3" } }],
  ["Anthropic", { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } }],
  ["Google", { inlineData: { mimeType: "image/png", data: DATA } }],
];

interface Kept {
  readonly mimeType: string;
  readonly content: Buffer;
}

function memoryFiles(refusal?: string) {
  const kept = new Map<string, Kept>();
  const port: AttachmentPort = {
    readAttachment: async (_, id) => kept.get(id)?.content,
    async storeFile(_, { id, mimeType, content }) {
      if (refusal === undefined) kept.set(id, { mimeType, content: Buffer.concat([...content()]) });
      return refusal;
    },
  };
  return { kept, port };
}

/** A graph whose tool and model make the same block, and which notes what messages its model is given in each turn. */
function painter(block: object, attachments: AttachmentPort) {
  const seen: unknown[][] = [];
  const state = new StateSchema({ messages: MessagesValue });
  const content = () => [{ type: "text", text: "Here." }, structuredClone(block)] as never;
  const graph = new StateGraph(state)
    .addNode("tool", () => ({
      messages: [new ToolMessage({ id: "t1", tool_call_id: "c1", content: content() })],
    }))
    .addNode("model", ({ messages }: typeof state.State) => {
      seen.push(messages.flatMap(({ content: parts }) => (typeof parts === "string" ? [] : parts)));
      return { messages: [new AIMessage({ content: content() })] };
    })
    .addEdge(START, "tool")
    .addEdge("tool", "model")
    .addEdge("model", END)
    .compile();
  const { saver } = createMemoryCheckpointer();
  const provider = createInProcProvider({
    graphs: graphRegistry([
      { descriptor: describeLoadedGraph({ graphName: "painter" }, graph), create: () => graph },
    ]),
    checkpointer: saver,
    attachments,
  });
  return { provider, saver, seen };
}

describe("A file that a graph makes", () => {
  it.each(BLOCKS)(
    "P79: reaches the next model call as it was made, now and in a later turn (%s)",
    async (_, block) => {
      const { port, kept } = memoryFiles();
      const { provider, seen, saver } = painter(block, port);
      const session = openThread(provider, "painter");
      const { final } = await session.say("Paint.");
      await session.say("Again.");
      expect(seen[0]).toEqual([{ type: "text", text: "Here." }, block]);
      expect(seen[1]?.slice(0, 4)).toEqual([
        { type: "text", text: "Here." },
        block,
        { type: "text", text: "Here." },
        block,
      ]);
      expect([...kept.values()].map(({ content }) => content)).toEqual([BYTES]);
      expect(storedText(saver)).not.toContain(DATA.slice(0, 256));
      expect(JSON.stringify(final)).not.toMatch(/[A-Za-z0-9+/]{256}/);
      expect(final.messages?.[1]?.content).toMatchObject([
        { type: "text", text: "Here." },
        { source_type: "url", url: `throughline:attachment/${[...kept.keys()][0]}` },
      ]);
      expect(final.files).toBeUndefined();
    },
  );

  it("is named in words in the checkpoint where it may not be stored", async () => {
    const { port } = memoryFiles("larger than one image may be");
    const { provider, seen, saver } = painter({ type: "image", data: DATA, mimeType: "image/png" }, port);
    const session = openThread(provider, "painter");
    const { final } = await session.say("Paint.");
    expect(seen[0]).toMatchObject([{}, { data: DATA }]);
    expect(storedText(saver)).not.toContain(DATA.slice(0, 256));
    expect(final.messages?.[1]?.content).toBe("Here.[image/png: larger than one image may be]");
  });

  it("stays in the checkpoint where it could not be made again to the letter, and is told by its address", async () => {
    const { port } = memoryFiles();
    const data = DATA.replaceAll(/.{76}/g, "$&\n");
    const { provider, seen } = painter({ type: "image", data, mimeType: "image/png" }, port);
    const session = openThread(provider, "painter");
    const { final } = await session.say("Paint.");
    await session.say("Again.");
    expect(seen[1]?.[1]).toMatchObject({ data });
    expect(final.files).toMatchObject([{ bytes: BYTES.length, mimeType: "image/png" }]);
    expect(JSON.stringify(final.messages)).not.toContain(data.slice(0, 70));
  });
});
